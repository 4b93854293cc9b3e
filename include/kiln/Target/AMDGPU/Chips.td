// AMD's chips, oldest first.
#ifndef KILN_TARGET_AMDGPU_CHIPS_TD
#define KILN_TARGET_AMDGPU_CHIPS_TD

include "kiln/Target/Chip.td"

class AMDGPUChip<string chip> : Chip<chip> {
  // Whose matrix instructions it has: an enumerator of `kiln::amdgcn::MatrixCores`.
  code matrixCores;
  // How its waits name what they are for: an enumerator of `kiln::amdgcn::WaitForm`.
  code waits;
  // The most bytes that a lane loads to LDS without registers between; 0: none.
  int bytesToLDS = 0;
  // Reads LDS with rows and columns exchanged.
  bit transposes = false;
  // Exchanges halves of two registers among lanes (`v_permlane32_swap`).
  bit swapsLanes = false;
  // Both halves of a wave hold all operands of a matrix instruction.
  bit repeatsOperands = false;
  // The last word of a buffer's descriptor, by the ISA manuals.
  int bufferFlags;
  // The bits of an access that tell caches that its data is used once.
  int usedOnce = 2;
  // Those of a load and of a store that go past what a core caches, to what the device's cores share,
  // as LLVM says an access that the whole device observes; of 0 they do so unasked.
  int pastCore;
  int writesPastCore = 0;
  // Those of either that goes past what the device caches; 0: none does.
  int pastDevice = 0;

  let maxThreads = 1024;
  let knownSlots = true;
  let bareBarriers = true;
  let priorities = true;
}

// Documents that several records take numbers from.
defvar gpuSpecs = "ROCm documentation, GPU hardware specifications";
defvar llvm = "LLVM, AMDGPUBaseInfo.cpp: waves of a SIMD, and groups of one wave, which take no barrier, as "
              "many as these";
defvar counter = "a word of LDS that DS_INC_U32 counts round, twice as far as a phase awaits";
defvar schedule = "LLVM, SISchedule.td: cycles of an instruction of 64 lanes on one of four SIMDs";
// What nobody has measured in public goes by the model of AMD's own compiler.
defvar model = "LLVM 22, SISchedule.td, as llvm-mca has it: v_fma_f32, v_exp_f32, ds_bpermute_b32; "
               "quads are four cycles";
defvar rdnaModel = "LLVM 22, SISchedule.td, as llvm-mca has it: v_fma_f32, v_exp_f32, "
                   "ds_bpermute_b32";
defvar modelLoads = "LLVM 22, SISchedule.td, as llvm-mca has it: a buffer load; nobody has measured one";
defvar calculator = "ROCm/amd_matrix_instruction_calculator: cycles of an instruction on one of "
                    "four SIMDs";
defvar xlaSpecs = "what HIP reports of the machine, as OpenXLA's target_config/specs keep it";
defvar benches = "measured: github.com/RRZE-HPC/gpu-benches";
defvar cdna4Paper = "AMD CDNA 4 white paper, table 1";
defvar lds = "ROCm documentation, LDS: 128 bytes a cycle";
defvar wmmaRates = "gpuopen.com, Using the Matrix Cores of RDNA 4: FLOPs a clock and compute unit";

//===- CDNA: a core is a compute unit ---------------------------------------------------------===//

// The data format must not be zero (words of 32 bits).
defvar cdnaBuffer = !or(!shl(7, 12), !shl(4, 15));

// Reads of 16 bytes are served four lanes here and four there (AMD's Composable Kernel guide, "LDS
// bank conflicts").
defvar cdnaReads = [SharedPhase<32, [1, 2, 4, 8, 16]>, SharedPhase<32, [1, 2, 4, 8]>,
                    SharedPhase<32, [1, 2, 20]>];

class CDNAChip<string chip> : AMDGPUChip<chip> {
  let source = "ROCm documentation, GPU hardware specifications; LLVM, AMDGPUBaseInfo.cpp";
  let warpSize = 64;
  let registersPerThread = 512;
  let registersPerCore = 131072;
  let shared = SharedPhases<cdnaReads, inOrder>;
  let waits = [{WaitForm::GFX9}];
  let bufferFlags = cdnaBuffer;
}

def GFX90a : CDNAChip<"gfx90a"> {
  let machine = "MI250, of two dies one";
  let sharedBytes = 65536;
  let flushesHalves = true;
  let matrixCores = [{MatrixCores::CDNA2}];
  let pastCore = 1;
  let bytesToLDS = 4;
  let figures = [
    From<gpuSpecs, [Is<cores, 104>, Is<sharedPerCore, 65536>, Is<l1Bytes, 16384>,
                    Is<l2Bytes, 8388608>]>,
    From<xlaSpecs, [Is<clock, 1700>, Is<threadsPerCore, 2048>, Is<memoryBandwidth, 1638>]>,
    From<llvm, [Is<warpsPerCore, 32>, Is<blocksPerCore, 32>]>,
    From<counter, [Is<barrierArrivals, 1073741824>]>,
    From<lds, [Is<sharedBandwidth, 128>]>,
    From<calculator, [Is<matrixF64, 128>, Is<matrixF32, 128>, Is<matrixF16, 512>,
                      Is<matrixI8, 512>, Is<matrixLatency, 32>]>,
    From<model, [Is<fmaLatency, 4>, Is<exp2Latency, 16>, Is<shuffleLatency, 20>]>,
    From<schedule, [Is<fmaF64, 64>, Is<fmaF32, 64>, Is<addI32, 64>, Is<multiplyI32, 16>,
                    Is<logicI32, 64>, Is<exp2s, 16>, Is<specials, 16>, Is<conversions, 64>]>,
    From<benches # " (MI210); 59 to 64 bytes, 240 to 265 and 570 to 700 cycles",
         [Is<l1Bandwidth, 62>, Is<l1Latency, 125>, Is<l2Latency, 253>, Is<memoryLatency, 635>]>,
    From<"AMD Instinct MI250 data sheet, half of both dies' (45.3, 90.5 and 362.1 TFLOP/s)",
         [Is<peakFmaF32, 22650>, Is<peakMatrixF64, 45250>, Is<peakMatrixF16, 181050>]>,
  ];
}

def GFX942 : CDNAChip<"gfx942"> {
  let machine = "MI300X";
  let sharedBytes = 65536;
  let matrixCores = [{MatrixCores::CDNA3}];
  let pastCore = 16;
  let writesPastCore = 16;
  let pastDevice = 17;
  let bytesToLDS = 4;
  let figures = [
    From<gpuSpecs, [Is<cores, 304>, Is<chiplets, 8>, Is<sharedPerCore, 65536>, Is<l1Bytes, 32768>,
                    Is<l2Bytes, 33554432>, Is<lastLevelBytes, 268435456>,
                    Is<lastLevelBandwidth, 17000>, Is<memoryBandwidth, 5300>]>,
    From<xlaSpecs, [Is<clock, 2100>, Is<threadsPerCore, 2048>]>,
    From<llvm, [Is<warpsPerCore, 32>, Is<blocksPerCore, 32>]>,
    From<counter, [Is<barrierArrivals, 1073741824>]>,
    From<lds, [Is<sharedBandwidth, 128>]>,
    From<cdna4Paper, [Is<fmaF64, 64>, Is<fmaF32, 128>]>,
    From<calculator, [Is<matrixF64, 128>, Is<matrixF32, 128>, Is<matrixTF32, 512>,
                      Is<matrixF16, 1024>, Is<matrixF8, 2048>, Is<matrixI8, 2048>,
                      Is<matrixLatency, 16>]>,
    From<model, [Is<fmaLatency, 4>, Is<exp2Latency, 16>, Is<shuffleLatency, 20>]>,
    From<schedule, [Is<addI32, 64>, Is<multiplyI32, 16>, Is<logicI32, 64>, Is<exp2s, 16>,
                    Is<specials, 16>, Is<conversions, 64>]>,
    From<benches # "; 873 to 890 cycles", [Is<l1Bandwidth, 60>, Is<l1Latency, 120>,
                                           Is<l2Latency, 213>, Is<lastLevelLatency, 455>,
                                           Is<memoryLatency, 882>]>,
    From<"measured: arXiv 2510.27583", [Is<measuredBandwidth, 4300>]>,
    From<"AMD Instinct MI300X data sheet",
         [Is<peakFmaF32, 163400>, Is<peakMatrixF64, 163400>, Is<peakMatrixTF32, 653700>,
          Is<peakMatrixF16, 1307400>, Is<peakMatrixF8, 2614900>]>,
  ];
}

// It reads from 64 banks, by figures that HipKittens took (arXiv 2511.08083).
def GFX950 : CDNAChip<"gfx950"> {
  let machine = "MI355X";
  let sharedBytes = 163840;
  let shared = SharedPhases<[SharedPhase<64, [1, 2, 4, 8, 16, 32]>,
                             SharedPhase<64, [1, 2, 4, 8, 16]>, SharedPhase<64, [1, 2, 12, 20]>],
                            inOrder>;
  let matrixCores = [{MatrixCores::CDNA4}];
  let pastCore = 16;
  let writesPastCore = 16;
  let pastDevice = 17;
  let bytesToLDS = 16;
  let transposes = true;
  let swapsLanes = true;
  let figures = [
    From<gpuSpecs, [Is<cores, 256>, Is<chiplets, 8>, Is<sharedPerCore, 163840>, Is<l1Bytes, 32768>,
                    Is<l2Bytes, 33554432>, Is<lastLevelBytes, 268435456>,
                    Is<memoryBandwidth, 8000>]>,
    From<"AMD Instinct MI355X product page: 2400 MHz; peaks of 157.3 TFLOP/s and 2.5 and 5 PFLOP/s",
         [Is<clock, 2400>, Is<peakFmaF32, 157300>, Is<peakMatrixF16, 2500000>,
          Is<peakMatrixF8, 5000000>]>,
    From<xlaSpecs # " (MI350X)", [Is<threadsPerCore, 2048>]>,
    From<llvm, [Is<warpsPerCore, 32>, Is<blocksPerCore, 32>]>,
    From<counter, [Is<barrierArrivals, 1073741824>]>,
    From<"chipsandcheese.com, CDNA 4: reads of LDS", [Is<sharedBandwidth, 256>]>,
    From<cdna4Paper, [Is<fmaF64, 64>, Is<fmaF32, 128>]>,
    From<"LLVM, SISchedule.td: passes of an instruction on one of four SIMDs; ISSCC 2026: 8192 "
         "FLOPs of 8 bits a clock", [Is<matrixF64, 64>, Is<matrixF32, 128>, Is<matrixF16, 2048>,
                               Is<matrixF8, 4096>, Is<matrixF6, 8192>, Is<matrixF4, 8192>,
                               Is<matrixI8, 4096>, Is<matrixLatency, 16>]>,
    From<model, [Is<fmaLatency, 4>, Is<exp2Latency, 16>, Is<shuffleLatency, 20>]>,
    From<schedule, [Is<addI32, 64>, Is<multiplyI32, 16>, Is<logicI32, 64>, Is<conversions, 64>]>,
    From<"AMD on CDNA 4, as summaries of its talk at Hot Chips 2025 have it: twice CDNA 3's",
         [Is<exp2s, 32>, Is<specials, 32>]>,
    From<modelLoads, [Is<memoryLatency, 320>]>,
  ];
}

//===- RDNA: a core is a work-group processor, two compute units -----------------------------===//

// Bit 24 is set, and bits 28 and 29 choose how bounds are checked: an offset that is not below the
// number of bytes is out of them.
defvar rdnaBuffer = !or(cdnaBuffer, !shl(1, 24), !shl(3, 28));

defvar rdnaRates = "LLVM, SISchedule.td: instructions of 32 lanes at full and at a quarter of the "
                   "rate, on each of four SIMDs";

class RDNAChip<string chip> : AMDGPUChip<chip> {
  let source = "ROCm documentation, GPU hardware specifications; LLVM, AMDGPUBaseInfo.cpp";
  let warpSize = 32;
  let registersPerThread = 256;
  let registersPerCore = 196608;
  let sharedBytes = 65536;
  let bufferFlags = rdnaBuffer;
}

def GFX1100 : RDNAChip<"gfx1100"> {
  let machine = "Radeon RX 7900 XTX";
  let matrixCores = [{MatrixCores::RDNA3}];
  let pastCore = 1;
  let waits = [{WaitForm::GFX11}];
  let repeatsOperands = true;
  let figures = [
    From<gpuSpecs, [Is<cores, 48>, Is<sharedPerCore, 131072>, Is<l1Bytes, 32768>,
                    Is<l2Bytes, 6291456>, Is<lastLevelBytes, 100663296>]>,
    From<llvm, [Is<warpsPerCore, 64>, Is<blocksPerCore, 64>, Is<threadsPerCore, 2048>]>,
    From<counter, [Is<barrierArrivals, 1073741824>]>,
    From<wmmaRates, [Is<matrixF16, 512>, Is<matrixI8, 512>]>,
    From<rdnaModel, [Is<fmaLatency, 5>, Is<exp2Latency, 10>, Is<shuffleLatency, 20>]>,
    From<rdnaRates, [Is<addI32, 128>, Is<multiplyI32, 32>, Is<logicI32, 128>, Is<exp2s, 32>,
                     Is<specials, 32>, Is<conversions, 128>]>,
    From<"chipsandcheese.com, RDNA 3 power saving: 150.3 ns and 234.6 ns of vector loads, at 2.5 GHz",
         [Is<lastLevelLatency, 376>, Is<memoryLatency, 586>]>,
    From<wmmaRates # "; an instruction on one of four SIMDs", [Is<matrixLatency, 32>]>,
    From<"ROCm Compute Profiler, work-group processor: 128 a cycle and compute unit",
         [Is<fmaF32, 256>]>,
    From<"AMD Radeon RX 7900 XTX product page", [Is<clock, 2500>, Is<memoryBandwidth, 960>,
                                                 Is<peakFmaF32, 61400>,
                                                 Is<peakMatrixF16, 123000>]>,
  ];
}

def GFX1201 : RDNAChip<"gfx1201"> {
  let machine = "Radeon RX 9070 XT";
  let matrixCores = [{MatrixCores::RDNA4}];
  let waits = [{WaitForm::Apart}];
  let usedOnce = 1;
  let pastCore = 16;
  let writesPastCore = 16;
  let pastDevice = 24;
  let figures = [
    From<gpuSpecs, [Is<cores, 32>, Is<sharedPerCore, 131072>, Is<l1Bytes, 32768>,
                    Is<l2Bytes, 8388608>, Is<lastLevelBytes, 67108864>]>,
    From<llvm, [Is<warpsPerCore, 64>, Is<blocksPerCore, 64>, Is<threadsPerCore, 2048>]>,
    From<counter, [Is<barrierArrivals, 1073741824>]>,
    From<wmmaRates, [Is<matrixF16, 1024>, Is<matrixI8, 2048>]>,
    From<calculator # "; two units", [Is<matrixF8, 2048>, Is<matrixI4, 4096>]>,
    From<rdnaModel, [Is<fmaLatency, 5>, Is<exp2Latency, 10>, Is<shuffleLatency, 20>]>,
    From<rdnaRates, [Is<addI32, 128>, Is<multiplyI32, 32>, Is<logicI32, 128>, Is<exp2s, 32>,
                     Is<specials, 32>, Is<conversions, 128>]>,
    From<modelLoads, [Is<memoryLatency, 320>]>,
    From<calculator, [Is<matrixLatency, 16>]>,
    From<"AMD Radeon RX 9070 XT product page: 48.7 TFLOP/s of 64 compute units",
         [Is<clock, 2970>, Is<memoryBandwidth, 640>, Is<fmaF32, 256>, Is<peakFmaF32, 48700>]>,
  ];
}

#endif // KILN_TARGET_AMDGPU_CHIPS_TD

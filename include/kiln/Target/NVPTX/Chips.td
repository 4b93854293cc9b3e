// NVIDIA's chips, oldest first.
#ifndef KILN_TARGET_NVPTX_CHIPS_TD
#define KILN_TARGET_NVPTX_CHIPS_TD

include "kiln/Target/Chip.td"

class NVPTXChip<string chip> : Chip<chip> {
  // Converts floats of a byte and multiplies tiles of them (`mma.sync`).
  bit byteFloats;
  // Multiplies tiles of integers of four bits.
  bit nibbles;
  // Multiplies tiles of f64 of sixteen rows (`mma.sync`).
  bit tallDoubles = true;
  // Has barriers that count bytes, which copy engines go with.
  bit byteBarriers = false;
  // Stores matrices from a warp's registers to shared memory (`stmatrix`).
  bit storesMatrices = false;
  // Multiplies tiles by groups of four warps into their registers (`wgmma`).
  bit groupProducts = false;
  // Multiplies tiles by one thread's order into tensor memory (`tcgen05.mma`).
  bit tensorProducts = false;
  // Those of integers, too.
  bit tensorIntegers = false;

  let source = "CUDA C++ Programming Guide, Compute Capabilities; of shared memory what a block "
               "may opt in to";
  let warpSize = 32;
  let maxThreads = 1024;
  let registersPerThread = 255;
  let registersPerCore = 65536;
  let required = [cores, clock, warpsPerCore, threadsPerCore, blocksPerCore, sharedPerCore,
                  namedBarriers, memoryBandwidth, l2Bytes];
}

// Groups of four warps resize their threads' registers, in steps of eight (`setmaxnreg`).
defvar resizable = RoleRegisters<8, 24, 256, 4>;

// Documents that several records take numbers from.
defvar guide = "CUDA C++ Programming Guide, Compute Capabilities";
defvar rates = "CUDA C++ Programming Guide 12.6, Throughput of Native Arithmetic Instructions";
// The row counts instructions that convert one element; what packs two was measured on sm_90a alone.
defvar converted = rates # ": all other type conversions";
defvar banks = "CUDA C++ Programming Guide, Shared Memory: 32 banks of 32 bits a clock";
defvar ptx = "PTX ISA, bar and mbarrier";
defvar clusters = "CUDA C++ Programming Guide, Thread Block Clusters: 8 are portable";
defvar specs = "what CUDA reports of the machine, as OpenXLA's target_config/specs keep it";
defvar tensorRates = "white papers of the chips, as OpenXLA's cuda_core_info_table.cc has them";
defvar gpuBenches = "measured: github.com/RRZE-HPC/gpu-benches";
defvar quickRun = "measured on B300: github.com/ademeure/QuickRunCUDA, DENSE_B300_PIPE_CATALOG.md";
// Multiply-adds are those of m16n8k16 in 8.18 cycles of a quarter of a core.
defvar quickRunProducts = quickRun # "; mma.sync m16n8k16 issued every 8.18 cycles, done in 20.8";
defvar pointers = "measured: github.com/markdewing/AI_kernels, latency/README.md";

// The version of PTX in a chip's features is the first that knows the chip in full; without one
// LLVM takes a default that may be too old.
def SM80 : NVPTXChip<"sm_80"> {
  let machine = "A100 SXM, 80 GB";
  let sharedBytes = 166912;
  let features = "+ptx80";
  let byteFloats = false;
  let nibbles = true;
  let tallDoubles = false;
  let figures = [
    From<specs, [Is<cores, 108>, Is<clock, 1410>, Is<sharedPerCore, 167936>, Is<l2Bytes, 41943040>,
                 Is<memoryBandwidth, 2039>]>,
    From<guide, [Is<threadsPerCore, 2048>, Is<warpsPerCore, 64>, Is<blocksPerCore, 32>,
                 Is<issue, 4>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>]>,
    From<tensorRates, [Is<matrixF64, 64>, Is<matrixTF32, 512>, Is<matrixF16, 1024>,
                       Is<matrixI8, 2048>, Is<fmaF64, 32>, Is<fmaF32, 64>]>,
    From<rates, [Is<fmaF16, 256>, Is<addI32, 64>, Is<logicI32, 64>, Is<shuffles, 32>]>,
    From<"CUDA C++ Programming Guide 11.5.1, Throughput of Native Arithmetic Instructions",
         [Is<multiplyI32, 64>, Is<exp2s, 16>, Is<specials, 16>]>,
    From<gpuBenches, [Is<l1Bandwidth, 127>, Is<l1Latency, 36>, Is<l2Latency, 211>,
                      Is<l2FarLatency, 424>, Is<memoryLatency, 570>, Is<measuredBandwidth, 1730>]>,
    From<gpuBenches # "; 4.4 to 4.65 TB/s", [Is<l2Bandwidth, 4525>]>,
    From<banks, [Is<sharedBandwidth, 128>]>,
    From<"measured: arXiv 2206.02874, mma.m16n8k8 in 17.7 cycles", [Is<matrixLatency, 18>]>,
    From<"measured: arXiv 2208.11174, dependent sums of f32 and a load from shared memory",
         [Is<fmaLatency, 4>, Is<sharedLatency, 23>]>,
    From<converted, [Is<conversions, 16>]>,
    From<"NVIDIA A100 white paper, peak rates",
         [Is<peakFmaF32, 19500>, Is<peakMatrixF64, 19500>, Is<peakMatrixTF32, 156000>,
          Is<peakMatrixF16, 312000>]>,
  ];
}

def SM86 : NVPTXChip<"sm_86"> {
  let machine = "A40";
  let sharedBytes = 101376;
  let features = "+ptx80";
  let byteFloats = false;
  let nibbles = true;
  let tallDoubles = false;
  let figures = [
    From<"NVIDIA A40 data sheet: 10752 CUDA cores, 336 tensor cores",
         [Is<cores, 84>, Is<memoryBandwidth, 696>, Is<matrixTF32, 256>, Is<matrixF16, 512>,
          Is<matrixI8, 1024>, Is<peakFmaF32, 37400>, Is<peakMatrixTF32, 74800>,
          Is<peakMatrixF16, 149700>]>,
    From<"sysrqmts.com, NVIDIA A40 PCIe: boost clock", [Is<clock, 1740>]>,
    From<specs # " (RTX A6000, the same die)", [Is<sharedPerCore, 102400>, Is<l2Bytes, 6291456>]>,
    From<guide, [Is<threadsPerCore, 1536>, Is<warpsPerCore, 48>, Is<blocksPerCore, 16>,
                 Is<issue, 4>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>]>,
    From<banks, [Is<sharedBandwidth, 128>]>,
    From<"measured on RTX 3060: github.com/YKTian-x2b/AmpereArchViaMicroBenchMark; 515 to 530 cycles",
         [Is<memoryLatency, 522>]>,
    From<"measured on RTX A6000: arXiv 2503.20481", [Is<fmaLatency, 4>, Is<sharedLatency, 23>]>,
    From<"measured on the same die: a survey of its instructions' control codes",
         [Is<shuffleLatency, 26>]>,
    From<converted, [Is<conversions, 16>]>,
    From<rates, [Is<fmaF32, 128>, Is<addI32, 64>, Is<logicI32, 64>, Is<shuffles, 32>]>,
    From<"CUDA C++ Programming Guide 11.5.1, Throughput of Native Arithmetic Instructions",
         [Is<fmaF64, 2>, Is<multiplyI32, 64>, Is<exp2s, 16>, Is<specials, 16>]>,
  ];
}

def SM89 : NVPTXChip<"sm_89"> {
  let machine = "L40";
  let sharedBytes = 101376;
  let features = "+ptx84";
  let byteFloats = true;
  let nibbles = true;
  let tallDoubles = false;
  let figures = [
    From<"NVIDIA L40 specifications, as hmc-tech.com has them",
         [Is<cores, 142>, Is<clock, 2490>, Is<memoryBandwidth, 864>, Is<l2Bytes, 100663296>,
          Is<matrixTF32, 128>, Is<matrixF16, 256>, Is<matrixF8, 512>, Is<peakFmaF32, 90500>,
          Is<peakMatrixF16, 181000>, Is<peakMatrixF8, 362100>]>,
    From<guide, [Is<threadsPerCore, 1536>, Is<warpsPerCore, 48>, Is<blocksPerCore, 24>,
                 Is<sharedPerCore, 102400>, Is<issue, 4>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>]>,
    From<rates, [Is<fmaF32, 128>, Is<fmaF16, 128>, Is<addI32, 64>, Is<logicI32, 64>,
                 Is<shuffles, 32>]>,
    From<converted, [Is<conversions, 16>]>,
    From<"CUDA C++ Best Practices Guide, Throughput of Native Arithmetic Instructions",
         [Is<multiplyI32, 64>, Is<exp2s, 16>, Is<specials, 16>]>,
    From<banks, [Is<sharedBandwidth, 128>]>,
    From<gpuBenches, [Is<l1Latency, 36>, Is<l2Latency, 277>, Is<memoryLatency, 631>,
                      Is<l2Bandwidth, 5700>]>,
    From<"measured on RTX 4070 Ti S: a survey of SASS latencies (multiply-add 4.5, ex2 17.6)",
         [Is<fmaLatency, 5>, Is<exp2Latency, 18>, Is<shuffleLatency, 25>]>,
  ];
}

def SM90a : NVPTXChip<"sm_90a"> {
  let machine = "H200 SXM; but for its memory, H100 SXM";
  let sharedBytes = 232448;
  let features = "+ptx86";
  let roleRegisters = resizable;
  let byteFloats = true;
  let nibbles = false;
  let byteBarriers = true;
  let storesMatrices = true;
  let groupProducts = true;
  let figures = [
    From<specs, [Is<cores, 132>, Is<clock, 1980>, Is<sharedPerCore, 233472>, Is<l2Bytes, 52428800>,
                 Is<memoryBandwidth, 4800>]>,
    From<guide, [Is<threadsPerCore, 2048>, Is<warpsPerCore, 64>, Is<blocksPerCore, 32>,
                 Is<issue, 4>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>, Is<barrierBytes, 1048575>]>,
    From<clusters, [Is<clusterBlocks, 8>]>,
    From<"NVIDIA Hopper Tuning Guide, Thread Block Clusters", [Is<maxClusterBlocks, 16>]>,
    From<tensorRates, [Is<matrixClock, 1830>, Is<matrixF64, 128>, Is<matrixTF32, 1024>,
                       Is<matrixF16, 2048>, Is<matrixF8, 4096>, Is<matrixI8, 4096>, Is<fmaF64, 64>,
                       Is<fmaF32, 128>]>,
    From<rates, [Is<fmaF16, 256>, Is<addI32, 64>, Is<logicI32, 64>]>,
    From<"measured on an H200: benchmarks/run.py chip; wgmma m64n8k16 from registers, from shared "
         "memory 18",
         [Is<warpMatrixTF32, 635>, Is<warpMatrixF16, 1272>, Is<warpMatrixF8, 586>,
          Is<warpMatrixI8, 2542>, Is<warpMatrixLatency, 25>, Is<matrixLatency, 13>,
          Is<matrixWaitCost, 36>, Is<multiplyI32, 64>, Is<exp2s, 16>,
          Is<specials, 16>, Is<conversions, 128>, Is<shuffles, 32>, Is<fmaLatency, 4>,
          Is<exp2Latency, 17>, Is<shuffleLatency, 24>, Is<sharedLatency, 23>,
          Is<fragmentLatency, 29>, Is<remoteSharedLatency, 185>, Is<l1Latency, 34>,
          Is<l2Latency, 264>, Is<l2FarLatency, 301>, Is<memoryLatency, 662>, Is<asyncLatency, 276>,
          Is<engineLatency, 296>, Is<sharedBandwidth, 128>, Is<l1Bandwidth, 128>,
          Is<barrierLatency, 12>, Is<barrierWarpCost, 2>, Is<namedBarrierLatency, 14>,
          Is<arriveCost, 6>, Is<barrierRoundTrip, 48>, Is<handOverLatency, 61>,
          Is<clusterBarrierLatency, 324>, Is<proxyFenceCost, 11>, Is<deviceFenceCost, 393>,
          Is<resizeCost, 51>]>,
    From<"measured on an H200: 128 x 128 bf16 products, whose operands came at 11.8 TB/s at 8192^3, "
         "and at 6.4 to 7.1 where rows began at odd multiples of 16 bytes (19 shapes)",
         [Is<engineBandwidth, 11800>, Is<splitBandwidth, 7000>]>,
    From<gpuBenches # "; H200: 9.6 to 11 TB/s",
         [Is<l2Bandwidth, 10300>, Is<measuredBandwidth, 3890>]>,
    From<"NVIDIA H100 white paper 1.04, table 3",
         [Is<peakFmaF32, 66900>, Is<peakMatrixF64, 66900>, Is<peakMatrixTF32, 494700>,
          Is<peakMatrixF16, 989400>, Is<peakMatrixF8, 1978900>]>,
  ];
}

def SM100a : NVPTXChip<"sm_100a"> {
  let machine = "B200";
  let sharedBytes = 232448;
  let features = "+ptx88";
  let roleRegisters = resizable;
  let byteFloats = true;
  let nibbles = false;
  let byteBarriers = true;
  let storesMatrices = true;
  let tensorProducts = true;
  let tensorIntegers = true;
  let figures = [
    From<specs, [Is<cores, 148>, Is<clock, 1965>, Is<sharedPerCore, 233472>,
                 Is<l2Bytes, 132644864>, Is<memoryBandwidth, 7672>]>,
    From<guide, [Is<threadsPerCore, 2048>, Is<warpsPerCore, 64>, Is<blocksPerCore, 32>,
                 Is<issue, 4>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>, Is<barrierBytes, 1048575>]>,
    From<"PTX ISA, Tensor Memory: 128 lanes of 512 columns", [Is<tensorMemory, 262144>]>,
    From<clusters, [Is<clusterBlocks, 8>]>,
    From<"NVIDIA Blackwell Tuning Guide, Thread Block Clusters", [Is<maxClusterBlocks, 16>]>,
    From<tensorRates # "; the clock is fitted to the peaks",
         [Is<matrixClock, 1835>, Is<matrixF64, 64>, Is<matrixTF32, 2048>, Is<matrixF16, 4096>,
          Is<matrixF8, 8192>, Is<matrixF6, 8192>, Is<matrixF4, 16384>, Is<matrixI8, 8192>,
          Is<fmaF64, 64>, Is<fmaF32, 128>, Is<fmaF16, 128>]>,
    From<"FlashAttention-4, arXiv 2603.05451",
         [Is<sharedBandwidth, 128>, Is<exp2s, 16>, Is<specials, 16>]>,
    From<quickRun # ", whose cores are these but for exponentials",
         [Is<addI32, 128>, Is<multiplyI32, 64>, Is<logicI32, 64>, Is<shuffles, 32>,
          Is<conversions, 64>, Is<fmaLatency, 4>, Is<shuffleLatency, 24>,
          Is<namedBarrierLatency, 26>, Is<arriveCost, 8>, Is<proxyFenceCost, 36>]>,
    From<quickRun # "; __syncthreads() in 22 + 2 x warps; 204 to 231, 373 to 380, 267 to 281",
         [Is<barrierLatency, 22>, Is<barrierWarpCost, 2>, Is<remoteSharedLatency, 218>,
          Is<clusterBarrierLatency, 377>, Is<deviceFenceCost, 274>]>,
    From<quickRunProducts, [Is<warpMatrixF16, 1001>, Is<warpMatrixLatency, 21>]>,
    From<"measured: a survey of kernels on B200 (39.5, 279 to 324, 833 to 843 cycles, 21 TB/s)",
         [Is<l1Latency, 40>, Is<sharedLatency, 29>, Is<l2Latency, 302>, Is<memoryLatency, 838>,
          Is<l2Bandwidth, 21000>]>,
    From<"measured: github.com/SemiAnalysisAI/microbench-blackwell; by the copy engine (by loads: "
         "6750)", [Is<measuredBandwidth, 7260>]>,
    From<"measured: github.com/SemiAnalysisAI/microbench-blackwell; tcgen05.mma m64n64k16 with its "
         "commit and wait", [Is<matrixLatency, 152>]>,
    From<"NVIDIA Blackwell Architecture Technical Brief 2.1, HGX B200, of one of eight",
         [Is<peakMatrixF16, 2250000>, Is<peakMatrixF8, 4500000>]>,
  ];
}

def SM103a : NVPTXChip<"sm_103a"> {
  let machine = "GB300";
  let sharedBytes = 232448;
  let features = "+ptx88";
  let roleRegisters = resizable;
  let byteFloats = true;
  let nibbles = false;
  let byteBarriers = true;
  let storesMatrices = true;
  let tensorProducts = true;
  let figures = [
    From<specs, [Is<cores, 152>, Is<clock, 2070>, Is<sharedPerCore, 233472>,
                 Is<l2Bytes, 135528448>, Is<memoryBandwidth, 7928>]>,
    From<guide, [Is<threadsPerCore, 2048>, Is<warpsPerCore, 64>, Is<blocksPerCore, 32>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>, Is<barrierBytes, 1048575>]>,
    From<"PTX ISA, Tensor Memory: 128 lanes of 512 columns", [Is<tensorMemory, 262144>]>,
    From<clusters, [Is<clusterBlocks, 8>]>,
    From<tensorRates, [Is<matrixTF32, 2048>, Is<matrixF16, 4096>, Is<matrixF8, 8192>]>,
    From<quickRun, [Is<issue, 4>, Is<fmaF32, 128>, Is<fmaF16, 128>, Is<addI32, 128>,
                    Is<multiplyI32, 64>, Is<logicI32, 64>, Is<exp2s, 32>, Is<shuffles, 32>,
                    Is<conversions, 64>, Is<sharedBandwidth, 125>, Is<fmaLatency, 4>,
                    Is<shuffleLatency, 24>, Is<l1Latency, 38>, Is<l2Latency, 300>,
                    Is<namedBarrierLatency, 26>, Is<arriveCost, 8>, Is<proxyFenceCost, 36>]>,
    From<quickRun # "; __syncthreads() in 22 + 2 x warps",
         [Is<barrierLatency, 22>, Is<barrierWarpCost, 2>]>,
    From<quickRunProducts, [Is<warpMatrixF16, 1001>, Is<warpMatrixLatency, 21>]>,
    From<quickRun # "; one of a warp in 8.1 to 9.1 cycles of a quarter", [Is<specials, 15>]>,
    From<quickRun # "; 14 to 18, 204 to 231, 789 to 882, 373 to 380, 267 to 281",
         [Is<exp2Latency, 16>, Is<remoteSharedLatency, 218>, Is<memoryLatency, 836>,
          Is<clusterBarrierLatency, 377>, Is<deviceFenceCost, 274>]>,
  ];
}

def SM120a : NVPTXChip<"sm_120a"> {
  let machine = "GeForce RTX 5090";
  let sharedBytes = 101376;
  let features = "+ptx87";
  let roleRegisters = resizable;
  let byteFloats = true;
  let nibbles = false;
  let storesMatrices = true;
  let figures = [
    From<"NVIDIA RTX Blackwell white paper, table 3",
         [Is<cores, 170>, Is<clock, 2407>, Is<l2Bytes, 100663296>, Is<memoryBandwidth, 1792>,
          Is<matrixTF32, 128>, Is<matrixF16, 256>, Is<matrixF8, 512>, Is<matrixI8, 1024>,
          Is<matrixF4, 2048>, Is<peakFmaF32, 104800>, Is<peakMatrixF16, 209500>,
          Is<peakMatrixF8, 419000>]>,
    From<"CUDA Programming Guide 13.4, Compute Capabilities (earlier ones: 32 blocks)",
         [Is<threadsPerCore, 1536>, Is<warpsPerCore, 48>, Is<blocksPerCore, 24>,
          Is<sharedPerCore, 102400>]>,
    From<ptx, [Is<namedBarriers, 16>, Is<barrierArrivals, 1048575>, Is<barrierBytes, 1048575>]>,
    From<"CUDA C++ Best Practices Guide 13.4, Throughput of Native Arithmetic Instructions",
         [Is<fmaF64, 2>, Is<fmaF32, 128>, Is<fmaF16, 128>, Is<addI32, 128>, Is<multiplyI32, 64>,
          Is<logicI32, 64>, Is<conversions, 16>, Is<shuffles, 32>]>,
    From<pointers, [Is<l1Latency, 44>, Is<l2Latency, 360>, Is<memoryLatency, 936>]>,
  ];
}

#endif // KILN_TARGET_NVPTX_CHIPS_TD

// Compiling in a worker process: the same artifacts and errors; whatever befalls the worker is an
// error that names the kernel.
#include "Support.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <csignal>
#include <fstream>
#include <sys/stat.h>

using namespace kiln::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
class WorkerTest : public ::testing::Test {
protected:
  WorkerTest() {
    request = requestOf(source);
    request.isolation = KILN_ISOLATION_WORKER;
    request.worker_program = KILN_TEST_WORKER;
    request.kernel = "copy";
  }
  KilnErrorCode fail() {
    KilnArtifact *artifact = nullptr;
    Owned<KilnError> error(kilnCompile(&request, &artifact));
    kilnArtifactDestroy(artifact);
    message = text(kilnErrorGetMessage(error.get()));
    return kilnErrorGetCode(error.get());
  }
  /// A worker that does something else.
  void impostor(const std::string &script) {
    std::string path = temporary / "worker";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0700);
    program = path;
    request.worker_program = program.c_str();
  }
  TemporaryDirectory temporary;
  std::string source = copySource, program, message;
  KilnCompileRequest request;
};
} // namespace

/// A target may go through a linker and its temporary files, which the limits must leave room for.
TEST_F(WorkerTest, CompilesForTheFirstChipOfEveryTarget) {
  KilnBuffer *buffer = nullptr;
  ASSERT_EQ(kilnTargetsDescribe(&buffer), nullptr);
  Owned<KilnBuffer> owner(buffer);
  KilnString bytes = kilnBufferGet(buffer);
  auto described = llvm::json::parse(llvm::StringRef(bytes.data, bytes.size));
  ASSERT_TRUE(bool(described));
  for (const llvm::json::Value &target : *described->getAsObject()->getArray("targets")) {
    const llvm::json::Array &spellings = *target.getAsObject()->getArray("spellings");
    std::string spelling = spellings.front().getAsString()->str();
    request.target = spelling.c_str();
    KilnArtifact *artifact = nullptr;
    Owned<KilnError> error(kilnCompile(&request, &artifact));
    EXPECT_FALSE(error) << spelling << ": " << text(kilnErrorGetMessage(error.get()));
    kilnArtifactDestroy(artifact);
  }
}

TEST_F(WorkerTest, GivesTheSameArtifact) {
  const char *stages[] = {"all"};
  request.keep_stages = stages;
  request.num_keep_stages = 1;
  Owned<KilnArtifact> isolated = compile(request);
  request.isolation = KILN_ISOLATION_NONE;
  Owned<KilnArtifact> here = compile(request);
  ASSERT_TRUE(isolated && here);
  EXPECT_EQ(text(kilnArtifactGetMetadata(isolated.get())),
            text(kilnArtifactGetMetadata(here.get())));
  ASSERT_EQ(kilnArtifactGetNumSections(isolated.get()), kilnArtifactGetNumSections(here.get()));
  for (size_t i = 0; i < kilnArtifactGetNumSections(here.get()); ++i) {
    std::string name = text(kilnArtifactGetSectionName(here.get(), i));
    EXPECT_EQ(sectionOf(isolated.get(), name.c_str()), sectionOf(here.get(), name.c_str()));
  }
}

TEST_F(WorkerTest, GivesTheSameDiagnostics) {
  source.replace(source.find("tensor<128xf32>, !tile"), 15, "tensor<128xf16>");
  request.source = source.data();
  request.source_size = source.size();
  KilnArtifact *artifact = nullptr;
  Owned<KilnError> isolated(kilnCompile(&request, &artifact));
  request.isolation = KILN_ISOLATION_NONE;
  Owned<KilnError> here(kilnCompile(&request, &artifact));
  ASSERT_TRUE(isolated && here);
  EXPECT_EQ(kilnErrorGetCode(isolated.get()), kilnErrorGetCode(here.get()));
  EXPECT_EQ(text(kilnErrorGetMessage(isolated.get())), text(kilnErrorGetMessage(here.get())));
  size_t count = kilnErrorGetNumDiagnostics(here.get());
  ASSERT_EQ(kilnErrorGetNumDiagnostics(isolated.get()), count);
  ASSERT_GE(count, 1u);
  for (size_t i = 0; i < count; ++i) {
    KilnDiagnostic a = kilnErrorGetDiagnostic(isolated.get(), i),
                   b = kilnErrorGetDiagnostic(here.get(), i);
    EXPECT_EQ(text(a.text), text(b.text));
    EXPECT_EQ(text(a.file), text(b.file));
    EXPECT_EQ(a.line, b.line);
    EXPECT_EQ(a.column, b.column);
    EXPECT_EQ(a.parent, b.parent);
  }
}

TEST_F(WorkerTest, IsFoundBesideTheLibrary) {
  request.worker_program = nullptr;
  EXPECT_TRUE(compile(request));
}

TEST_F(WorkerTest, AMissingWorkerIsAnError) {
  request.worker_program = "/nonexistent/kiln-worker";
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
  EXPECT_THAT(message, HasSubstr("'/nonexistent/kiln-worker'"));
}

TEST_F(WorkerTest, ADeadWorkerIsAnErrorThatNamesTheKernelAndTheSignal) {
  impostor("echo last words >&2; kill -SEGV $$");
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
  EXPECT_THAT(message,
              AllOf(HasSubstr("kernel 'copy'"), HasSubstr("signal 11"), HasSubstr("last words")));
  impostor("exit 3");
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
  EXPECT_THAT(message, AllOf(HasSubstr("kernel 'copy'"), HasSubstr("status 3")));
  impostor("cat >/dev/null; echo gibberish >&0; exit 0");
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
}

TEST_F(WorkerTest, AWorkerThatHangsIsEnded) {
  impostor("sleep 100");
  request.worker_seconds = 1;
  auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
  EXPECT_THAT(message, HasSubstr("limit of 1 seconds"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST_F(WorkerTest, ACompileCanBeCancelled) {
  impostor("sleep 100");
  int polls = 0;
  request.user_data = &polls;
  request.cancelled = [](void *data) -> int32_t { return ++*static_cast<int *>(data) > 5; };
  EXPECT_EQ(fail(), KILN_ERROR_CANCELLED);
  EXPECT_EQ(polls, 6);
  EXPECT_THAT(message, HasSubstr("kernel 'copy'"));
}

TEST_F(WorkerTest, TheMemoryLimitHolds) {
  // Enough to start with, not enough for what the source spells out.
  source = "module attributes {test.a = dense<\"0x" + std::string(60 << 20, '0') +
           "\"> : tensor<31457280xi8>} {\n" + source + "}\n";
  request = requestOf(source);
  request.kernel = "copy";
  request.isolation = KILN_ISOLATION_WORKER;
  request.worker_program = KILN_TEST_WORKER;
  request.worker_memory_bytes = uint64_t(300) << 20;
  request.max_source_bytes = uint64_t(1) << 30;
  KilnErrorCode tight = fail();
  std::string said = message;
  EXPECT_EQ(tight, KILN_ERROR_WORKER) << said;
  EXPECT_THAT(said, HasSubstr("kernel 'copy'"));
  request.worker_memory_bytes = uint64_t(16) << 30;
  EXPECT_EQ(fail(), KILN_OK) << message;
}

//===- Workers that are kept ------------------------------------------------------------------===//

TEST_F(WorkerTest, AKeptWorkerServesAgain) {
  request.isolation = KILN_ISOLATION_KEPT_WORKER;
  impostor("echo >> '" + temporary / "started" + "'; exec " KILN_TEST_WORKER);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(compile(request));
  std::ifstream file(temporary / "started");
  std::string starts((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(starts, "\n");
}

TEST_F(WorkerTest, AKeptWorkerThatDiesIsAnErrorAndReplaced) {
  request.isolation = KILN_ISOLATION_KEPT_WORKER;
  // The first compiles nothing, the second is a good one.
  impostor("if [ -e '" + temporary / "died" + "' ]; then exec " KILN_TEST_WORKER "; fi; echo > '" +
           temporary / "died" + "'; kill -SEGV $$");
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
  EXPECT_THAT(message, AllOf(HasSubstr("kernel 'copy'"), HasSubstr("signal 11")));
  EXPECT_TRUE(compile(request));
}

TEST_F(WorkerTest, AKeptWorkersLimitsAreThoseOfEachRequest) {
  request.isolation = KILN_ISOLATION_KEPT_WORKER;
  ASSERT_TRUE(compile(request));
  std::string small = source;
  source = "module attributes {test.a = dense<\"0x" + std::string(60 << 20, '0') +
           "\"> : tensor<31457280xi8>} {\n" + small + "}\n";
  request.source = source.data();
  request.source_size = source.size();
  request.max_source_bytes = uint64_t(1) << 30;
  request.worker_memory_bytes = uint64_t(300) << 20;
  EXPECT_EQ(fail(), KILN_ERROR_WORKER) << message;
  request.worker_memory_bytes = uint64_t(16) << 30;
  EXPECT_EQ(fail(), KILN_OK) << message;
}

TEST_F(WorkerTest, WithoutAProgramAKeptWorkersRequestIsCompiledHere) {
  request.isolation = KILN_ISOLATION_KEPT_WORKER;
  request.worker_program = "/nonexistent/kiln-worker";
  EXPECT_TRUE(compile(request));
}

TEST_F(WorkerTest, AnUnknownIsolationIsAnError) {
  request.isolation = KilnIsolation(3);
  EXPECT_EQ(fail(), KILN_ERROR_INVALID_ARGUMENT);
}

//===- What a source can do -------------------------------------------------------------------===//

// What overflows the parser's stack although no bracket nests: types that name each other.
TEST_F(WorkerTest, AStackOverflowIsAnError) {
  std::string chain = "!t0 = i32\n";
  for (int i = 1; i < 300000; ++i)
    chain += "!t" + std::to_string(i) + " = tuple<!t" + std::to_string(i - 1) + ">\n";
  source = chain + "\"builtin.module\"() ({}) {test.a = !t299999} : () -> ()\n";
  request.source = source.data();
  request.source_size = source.size();
  KilnErrorCode code = fail();
  EXPECT_NE(code, KILN_OK);
  EXPECT_TRUE(code == KILN_ERROR_WORKER || code == KILN_ERROR_COMPILE) << message;
}

/// The parser recurses for each bracket, and this is not the worker's process.
TEST_F(WorkerTest, ADeeplyNestedAnswerIsNoAnswer) {
  impostor("{ printf 'd\\100\\102\\017\\000\\000\\000\\000\\000'; "
           "head -c 1000000 /dev/zero | tr '\\0' '['; } >&0");
  EXPECT_EQ(fail(), KILN_ERROR_WORKER);
  EXPECT_THAT(message, AllOf(HasSubstr("copy"), HasSubstr("without an answer")));
}

TEST_F(WorkerTest, AnErrorOfNoKnownCodeIsStillAnError) {
  impostor("printf 'e\\013\\000\\000\\000\\000\\000\\000\\000{\"code\":99}' >&0");
  EXPECT_EQ(fail(), KILN_ERROR_INTERNAL);
  EXPECT_THAT(message, AllOf(HasSubstr("copy"), HasSubstr("gave no reason")));
}

TEST_F(WorkerTest, ManyAtOnce) {
  std::vector<Owned<KilnArtifact>> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(compile(request));
  for (auto &artifact : all)
    EXPECT_TRUE(artifact);
}

// The object that a decorated kernel is: callable through vectorcall, with everything that is
// not a launch left to its Python half (`kiln.runtime.kernel.KernelHalf`), to which unknown
// attributes are passed on.
//
// A launch
//   1. binds the call (Signature.h), checks that no captured global has changed;
//   2. finds the number of its variant: the combination of constants, options and read-only
//      arguments;
//   3. converts the arguments (Arguments.h) and picks the KilnFunction for their kinds (more
//      than one only where parameters have no annotation); where one is None, a tuple or a list,
//      the Python half launches another launcher, of the kernel with these arguments apart;
//      tunables that the call leaves to the model have the values that it chose for these sizes;
//   4. calls kilnFunctionLaunch without the GIL; on a miss the Python half compiles and inserts,
//      and the launch is made again.
#ifndef KILN_PYTHON_LAUNCHER_H
#define KILN_PYTHON_LAUNCHER_H

#include "Signature.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kiln::python {

struct Specialiser {
  std::vector<int32_t> kinds;
  KilnFunction *function;
};

/// A place of something that the kernel's source captures, and what stood there when the source was
/// taken: nothing if `value` is null.
struct Watch {
  nb::object scope; ///< a dictionary, or an object with the attribute `name`
  nb::object name;
  nb::object value;
};

struct LauncherState {
  nb::object half; ///< the Python half
  std::string name;
  Signature signature;
  std::vector<Specialiser> functions;
  std::vector<KilnFunction *> retired; ///< forgotten while they were launching
  size_t launching = 0;                ///< launches in the C API now, in all threads
  size_t lastFunction = 0;
  size_t generation = 0; ///< counts `_forget`: a number of a function says its generation too
  std::vector<Watch> watches;
  nb::dict variants;                          ///< the number of each, by its key
  std::optional<uint64_t> defaultVariants[2]; ///< of plain launches, and of saysPrograms()
  nb::dict choices; ///< by what a call says: the values that the model chose
  /// By variant, the arguments that its code writes to, where there are any.
  std::unordered_map<uint64_t, std::vector<uint32_t>> written;

  ~LauncherState();
  size_t numberOf(size_t index) const { return generation << 16 | index; }
};

struct Launcher {
  PyObject head;
  vectorcallfunc vectorcall;
  PyObject *weakrefs;
  LauncherState *state;
};

/// How a launch differs from a plain one, as KilnLaunchOptions has it.
struct LaunchTraits {
  int64_t cluster[3];
  bool cooperative, overlap, hasPriority;
  int32_t priority;

  void writeTo(KilnLaunchOptions &options) const;
};

/// `kernel[grid]` and `kernel.options(...)`: a launcher with launch options.
struct Configured {
  PyObject head;
  vectorcallfunc vectorcall;
  Launcher *launcher;  // owned
  PyObject *options;   // owned: the key of the compile options, or null
  PyObject *described; // owned: the keywords it was made from, or null
  int32_t hasGrid;
  int64_t grid[3];
  bool hasStream;
  KilnStream stream;
  KilnDevice *device;
  LaunchTraits traits;
};

extern PyTypeObject *launcherType;
extern PyTypeObject *configuredType;
/// How many launch hooks there are; with any, launches take the slow way through Python.
extern int activeHooks;

/// One launch up to the point where the C API is called.
struct PreparedLaunch {
  BoundCall bound;
  ArgumentFrame frame;
  KilnLaunchOptions options;
  nb::object compileOptions; ///< of the variant; null for none
  nb::object chosen;         ///< a tuple of the values that the model chose; null for none
  size_t function = 0;
  bool structured = false; ///< an argument is None, a tuple or a list: the Python half launches
};

/// Steps 1 to 3. `config` may be null. False with a Python error. `hooked` is set, and nothing
/// else done, if the caller must go through the hooks.
bool prepareLaunch(Launcher *self, Configured *config, PyObject *const *args, size_t numArgs,
                   PyObject *names, PreparedLaunch &out);

/// All of it.
PyObject *launch(Launcher *self, Configured *config, PyObject *const *args, size_t numArgs,
                 PyObject *names, bool hooks);

/// A stream from an int, or from an object of a framework that has a handle.
bool streamOf(PyObject *object, KilnStream &out);
/// A device from its name or from an object with a `name`.
bool deviceOf(PyObject *object, KilnDevice *&out);
/// The grid, or what `what` says, from an int or a tuple of one to three.
bool gridOf(PyObject *object, int64_t out[3], const char *what = "grid", int64_t least = 0);

/// The part of a variant's key that stands for one constant: 1, 1.0 and True differ, and so do
/// 0.0 and -0.0.
nb::object constantKey(PyObject *value);

} // namespace kiln::python

#endif // KILN_PYTHON_LAUNCHER_H

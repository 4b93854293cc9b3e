// What unit tests have in common, as one precompiled header.
#include "../lib/PCH/LLVM.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

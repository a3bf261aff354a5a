// SPDX-License-Identifier: GPL-3.0-or-later
// The device that sessions of tests compute with: the CPU, or the one that SPANSCOPE_TEST_DEVICE names, such
// as "cuda". A card computes exactly (--exact) then, since what these tests hold is equal bits.
#pragma once

#include "tests/support/backends.h"

#include <cstdlib>
#include <memory>
#include <string>

namespace spanscope::test {

/// The arithmetic of the CPU that SPANSCOPE_TEST_ARITHMETIC names: f32 unless it says "fast".
inline compute::Arithmetic testedArithmetic() {
  const char* const named = std::getenv("SPANSCOPE_TEST_ARITHMETIC");
  return compute::arithmeticOf(named == nullptr ? "" : named).value_or(compute::Arithmetic::F32);
}

inline std::unique_ptr<compute::Backend> makeTestedBackend(int threads) {
  const char* const named = std::getenv("SPANSCOPE_TEST_DEVICE");
  if (named == nullptr) return makeBackend("cpu", threads, false, testedArithmetic());
  return makeBackend(named, threads, std::string(named) != "cpu");
}

/// Whether the device's activations are in f32, as what results are defined by: cards round theirs to bf16.
inline bool isTestedInF32() {
  const char* const named = std::getenv("SPANSCOPE_TEST_DEVICE");
  return (named == nullptr || std::string(named) == "cpu") && testedArithmetic() == compute::Arithmetic::F32;
}

}  // namespace spanscope::test

/// In a Qt Test whose tolerances are those of f32.
#define SKIP_UNLESS_IN_F32() \
  if (!spanscope::test::isTestedInF32()) QSKIP("activations of this device are not in f32")

// SPDX-License-Identifier: GPL-3.0-or-later
// What is known not to be as promised. A difference that one of these covers is counted and told of, and is
// no failure.
#pragma once

#include "tests/engine/run/whole_runs/difference.h"
#include "tests/engine/run/whole_runs/run_case.h"

#include <span>

namespace spanscope::test {

struct KnownFault {
  const char* name;
  bool (*covers)(const RunCase& all, const Difference& difference);
};

std::span<const KnownFault> knownFaults();

/// The one that covers it; nullptr if none does.
const KnownFault* findKnownFault(const RunCase& all, const Difference& difference);

}  // namespace spanscope::test

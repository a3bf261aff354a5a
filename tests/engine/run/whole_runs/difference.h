// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::test {

/// What differs between a warm run and what it is compared with.
enum class Subject : std::uint8_t {
  Exception,    ///< something was thrown that is no Failure
  Outcome,      ///< one of the runs failed, or they failed in different ways
  Prompt,       ///< span tables
  Answer,       ///< sampled tokens and how the answer ended
  Probability,  ///< bits of the probabilities of sampled tokens
  Text,         ///< texts of step answers and of the final answer
  Attention,    ///< what tokens looked at, bit for bit
  Figures,      ///< the run's own figures do not add up
  Prediction,   ///< a prediction was wrong
  Trace,        ///< the events lead to another state than the engine's
  Replay,       ///< replayed answers differ
  Leak          ///< blocks are still held
};
const char* nameOf(Subject subject);

struct Difference {
  std::size_t run = 0;  ///< index of the run in the case
  Subject subject = Subject::Outcome;
  std::string text;
};

using Differences = std::vector<Difference>;

}  // namespace spanscope::test

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::test {

/// What a warm run and what it is held against do not agree in.
enum class Subject : std::uint8_t {
  Exception,    ///< something was thrown that is no Failure for the caller
  Outcome,      ///< one of them failed, or another way
  Prompt,       ///< span tables
  Reply,        ///< sampled tokens and how the reply ended
  Probability,  ///< bits of the probabilities of sampled tokens
  Text,         ///< of replies and answer
  Attention,    ///< what tokens looked at, bit for bit
  Figures,      ///< of the run itself: they do not add up
  Forecast,     ///< what was predicted did not come
  Trace,        ///< the events give another state than the engine's
  Replay,       ///< replies put through the model once more are others
  Leak          ///< somebody still holds blocks
};
const char* nameOf(Subject subject);

struct Difference {
  std::size_t run = 0;  ///< of the case
  Subject subject = Subject::Outcome;
  std::string text;
};

using Differences = std::vector<Difference>;

}  // namespace spanscope::test

// SPDX-License-Identifier: GPL-3.0-or-later
// How much an experiment computes, in tokens, and how long that takes.
#pragma once

#include "engine/run/prediction.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::trace {
struct StepMetrics;
}

namespace spanscope::experiment {

/// What is computed, or bounds of it.
struct TokenAmount {
  run::CountRange prompt;  ///< tokens of prompts, many at a time; the first token of a reply comes with them
  run::CountRange generated;  ///< tokens of replies behind the first, one after another

  TokenAmount& operator+=(const TokenAmount& other) {
    prompt += other.prompt;
    generated += other.generated;
    return *this;
  }
  bool operator==(const TokenAmount&) const = default;
};

/// How fast a model was on a device: tokens, and the seconds that they took.
struct PaceSample {
  std::int64_t promptTokens = 0;
  double promptSeconds = 0;
  std::int64_t generatedTokens = 0;  ///< behind the first of each reply
  double generatedSeconds = 0;

  /// Adds a step that has ended.
  void add(const trace::StepMetrics& step);
  PaceSample& operator+=(const PaceSample& other);
  bool operator==(const PaceSample&) const = default;
};

struct SecondsRange {
  double least = 0;
  double most = 0;
  bool operator==(const SecondsRange&) const = default;
};

/// The time that an amount takes at a pace. Nothing if the pace of tokens that it has, or may have, is not
/// known.
std::optional<SecondsRange> secondsFor(const TokenAmount& amount, const PaceSample& pace);

enum class DurationUnit : std::uint8_t { Seconds, Minutes, Hours };

/// A time as people say it.
struct Duration {
  std::int64_t value = 0;
  DurationUnit unit = DurationUnit::Seconds;
  bool operator==(const Duration&) const = default;
};
/// To 1 s below 10 s, to 5 s below a minute, to minutes below two hours; at least 1 s.
Duration roundedDuration(double seconds);

struct DurationSpan {
  Duration least;
  Duration most;
  bool isOne() const { return least == most; }  ///< "about 40 s"; otherwise "20 s to 1 min"
  bool operator==(const DurationSpan&) const = default;
};
/// One time, the mean, where the longest is at most one and a half times the shortest.
DurationSpan roundedSpan(const SecondsRange& seconds);

/// In English: "about 40 s", "20 s to 1 min".
std::string durationText(const SecondsRange& seconds);

/// Tells how long the rest of an experiment takes from what its steps compute and how long those so far took.
class RemainingTime {
 public:
  RemainingTime() = default;
  /// `steps`: what is computed up to the end of each step of the experiment, or of one that has fewer repeats
  /// of the same places; ascending. Empty: every step counts the same.
  explicit RemainingTime(const std::vector<TokenAmount>& steps, const PaceSample& pace = {});

  /// The share of the work that is done after this share of the steps, 0 … 1.
  double workDone(double stepsDone) const;
  /// Seconds that are left after `spent` seconds. Nothing before a twentieth of the work is done.
  std::optional<double> secondsLeft(double stepsDone, double spent) const;

 private:
  std::vector<double> m_shares;  ///< of the work, by step; the last is 1
};

}  // namespace spanscope::experiment

// SPDX-License-Identifier: GPL-3.0-or-later
// Computes how many tokens an experiment computes, and how long that takes. Open this file to change time
// estimates.
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

/// The computed tokens, or bounds of them.
struct TokenAmount {
  run::CountRange prompt;     ///< tokens of prompts, many at a time, including the first token of an answer
  run::CountRange generated;  ///< tokens of answers after the first, one after another

  TokenAmount& operator+=(const TokenAmount& other) {
    prompt += other.prompt;
    generated += other.generated;
    return *this;
  }
  bool operator==(const TokenAmount&) const = default;
};

/// The speed of a model on a device: tokens, and the seconds that they took.
struct SpeedSample {
  std::int64_t promptTokens = 0;
  double promptSeconds = 0;
  std::int64_t generatedTokens = 0;  ///< after the first of each answer
  double generatedSeconds = 0;

  /// Adds a step that has ended.
  void add(const trace::StepMetrics& step);
  SpeedSample& operator+=(const SpeedSample& other);
  bool operator==(const SpeedSample&) const = default;
};

struct SecondsRange {
  double least = 0;
  double most = 0;
  bool operator==(const SecondsRange&) const = default;
};

/// Returns the time of an amount at a pace. Nothing if the pace for its tokens is unknown.
std::optional<SecondsRange> secondsFor(const TokenAmount& amount, const SpeedSample& pace);

enum class DurationUnit : std::uint8_t { Seconds, Minutes, Hours };

/// A rounded time for the user.
struct Duration {
  std::int64_t value = 0;
  DurationUnit unit = DurationUnit::Seconds;
  bool operator==(const Duration&) const = default;
};
/// Rounds to 1 s below 10 s, to 5 s below a minute, to minutes below two hours. The result is at least 1 s.
Duration roundedDuration(double seconds);

struct DurationSpan {
  Duration least;
  Duration most;
  bool isOne() const { return least == most; }  ///< "about 40 s"; otherwise "20 s to 1 min"
  bool operator==(const DurationSpan&) const = default;
};
/// Returns one time, the mean, if the longest is at most one and a half times the shortest.
DurationSpan roundedSpan(const SecondsRange& seconds);

/// Returns English text: "about 40 s", "20 s to 1 min".
std::string durationText(const SecondsRange& seconds);

/// Estimates the remaining time of an experiment from the amounts of its steps and the time of the finished
/// steps.
class RemainingTime {
 public:
  RemainingTime() = default;
  /// `steps`: the tokens up to the end of each step, ascending. The experiment can repeat these steps more
  /// often. Empty: every step counts the same.
  explicit RemainingTime(const std::vector<TokenAmount>& steps, const SpeedSample& pace = {});

  /// Returns the share of the work that is done after this share of the steps, 0 … 1.
  double workDone(double stepsDone) const;
  /// Returns the seconds that are left after `spent` seconds. Nothing before a twentieth of the work is done.
  std::optional<double> secondsLeft(double stepsDone, double spent) const;

 private:
  std::vector<double> m_shares;  ///< of the work, by step; the last is 1
};

}  // namespace spanscope::experiment

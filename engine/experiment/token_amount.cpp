// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/token_amount.h"

#include "engine/trace/event.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace spanscope::experiment {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 3600;

double middle(const run::CountRange& range) {
  const auto least = static_cast<double>(range.least);
  return range.bounded() ? (least + static_cast<double>(range.most)) / 2 : least;
}

std::string textOf(const Duration& duration) {
  const char* unit = duration.unit == DurationUnit::Seconds   ? " s"
                     : duration.unit == DurationUnit::Minutes ? " min"
                                                              : " h";
  return std::to_string(duration.value) + unit;
}

}  // namespace

void SpeedSample::add(const trace::StepMetrics& step) {
  promptTokens += step.computedTokens;
  promptSeconds += std::max(0.0, step.timeToFirstToken - step.queueTime);
  if (step.generatedTokens < 2) return;
  generatedTokens += step.generatedTokens - 1;
  generatedSeconds += step.interTokenLatency * static_cast<double>(step.generatedTokens - 1);
}

SpeedSample& SpeedSample::operator+=(const SpeedSample& other) {
  promptTokens += other.promptTokens;
  promptSeconds += other.promptSeconds;
  generatedTokens += other.generatedTokens;
  generatedSeconds += other.generatedSeconds;
  return *this;
}

std::optional<SecondsRange> secondsFor(const TokenAmount& amount, const SpeedSample& pace) {
  if (!amount.prompt.bounded() || !amount.generated.bounded()) return std::nullopt;
  SecondsRange seconds;
  const auto add = [&seconds](const run::CountRange& tokens, std::int64_t known, double took) {
    if (tokens.most == 0) return true;
    if (known <= 0 || took <= 0) return false;
    const double each = took / static_cast<double>(known);
    seconds.least += each * static_cast<double>(tokens.least);
    seconds.most += each * static_cast<double>(tokens.most);
    return true;
  };
  const bool isKnown = add(amount.prompt, pace.promptTokens, pace.promptSeconds) &&
                       add(amount.generated, pace.generatedTokens, pace.generatedSeconds);
  return isKnown ? std::optional(seconds) : std::nullopt;
}

Duration roundedDuration(double seconds) {
  constexpr double kFine = 10;
  constexpr std::int64_t kStep = 5;
  constexpr std::int64_t kMostMinutes = 120;
  if (seconds < kFine) return {std::max<std::int64_t>(1, std::llround(seconds)), DurationUnit::Seconds};
  const std::int64_t steps = std::llround(seconds / static_cast<double>(kStep));
  if (steps * kStep < kMinute) return {steps * kStep, DurationUnit::Seconds};
  const std::int64_t minutes = std::llround(seconds / static_cast<double>(kMinute));
  if (minutes < kMostMinutes) return {std::max<std::int64_t>(1, minutes), DurationUnit::Minutes};
  return {std::llround(seconds / static_cast<double>(kHour)), DurationUnit::Hours};
}

DurationSpan roundedSpan(const SecondsRange& seconds) {
  constexpr double kClose = 1.5;
  if (seconds.most > kClose * seconds.least)
    return {roundedDuration(seconds.least), roundedDuration(seconds.most)};
  const Duration mean = roundedDuration((seconds.least + seconds.most) / 2);
  return {mean, mean};
}

std::string durationText(const SecondsRange& seconds) {
  const DurationSpan span = roundedSpan(seconds);
  return span.isOne() ? "about " + textOf(span.least) : textOf(span.least) + " to " + textOf(span.most);
}

RemainingTime::RemainingTime(const std::vector<TokenAmount>& steps, const SpeedSample& pace) {
  // If no pace is known, a sampled token counts as several tokens of a prompt.
  constexpr double kUsualFactor = 8;
  const bool isKnown = pace.promptTokens > 0 && pace.generatedTokens > 0 && pace.promptSeconds > 0 &&
                       pace.generatedSeconds > 0;
  const double factor = isKnown ? pace.generatedSeconds / static_cast<double>(pace.generatedTokens) /
                                      (pace.promptSeconds / static_cast<double>(pace.promptTokens))
                                : kUsualFactor;
  for (const TokenAmount& step : steps)
    m_shares.push_back(middle(step.prompt) + factor * middle(step.generated));
  const double all = m_shares.empty() ? 0 : m_shares.back();
  if (all <= 0) m_shares.clear();
  for (double& share : m_shares) share /= all;
}

double RemainingTime::workDone(double stepsDone) const {
  stepsDone = std::clamp(stepsDone, 0.0, 1.0);
  if (m_shares.empty()) return stepsDone;
  const double place = stepsDone * static_cast<double>(m_shares.size());
  const auto whole = static_cast<std::size_t>(place);
  if (whole >= m_shares.size()) return 1;
  const double before = whole == 0 ? 0 : m_shares[whole - 1];
  return before + (place - static_cast<double>(whole)) * (m_shares[whole] - before);
}

std::optional<double> RemainingTime::secondsLeft(double stepsDone, double spent) const {
  constexpr double kEnough = 0.05;
  const double done = workDone(stepsDone);
  if (done < kEnough) return std::nullopt;
  return spent * (1 - done) / done;
}

}  // namespace spanscope::experiment

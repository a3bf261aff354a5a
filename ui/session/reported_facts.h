// SPDX-License-Identifier: GPL-3.0-or-later
// The facts that a trace source may report, and the facts that the source does report. A view names the facts
// that it needs. If a fact is not reported, the window shows a sentence instead of nothing or zeros.
#pragma once

#include <QString>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::workbench {
struct RunSettings;
}

namespace spanscope::ui {

class TraceStore;

enum class Fact : std::uint8_t {
  Prompts,       ///< which tokens a prompt consists of, segment by segment
  TokenTexts,    ///< the text of each token
  BlockLookups,  ///< whether each block was a cache hit, and the reason of each miss
  Pool,          ///< the blocks of the pool
  CachedTokens,  ///< number of reused tokens of a prompt
  TokenTimes,    ///< arrival time of each token of an answer
  Passes,        ///< forward passes: their rows and times
  Attention,     ///< attention weights of query rows
  StepTimes,     ///< start, first text and end of each step
};
inline constexpr std::size_t kFacts = 9;

/// Whether a fact is reported. A value of a reported fact was measured, also if it is 0. A value of any other
/// fact is not known.
enum class Reporting : std::uint8_t {
  Reported,
  NotReported,      ///< so far; another run of the same source may report the fact
  CannotBeReported  ///< by this source
};

class ReportedFacts {
 public:
  /// Every fact is reported.
  ReportedFacts() { m_states.fill(Reporting::Reported); }

  Reporting of(Fact fact) const { return m_states[static_cast<std::size_t>(fact)]; }
  void set(Fact fact, Reporting state) { m_states[static_cast<std::size_t>(fact)] = state; }
  bool operator==(const ReportedFacts&) const = default;

 private:
  std::array<Reporting, kFacts> m_states{};
};

/// Returns which facts the events of a trace report. If no event reports a fact that is due by now, the fact
/// gets the state `missing`. The time grows with the number of events.
ReportedFacts reportedBy(const TraceStore& trace, Reporting missing);
/// Returns what a session of the embedded engine reports about runs with these settings.
ReportedFacts reportedUnder(const workbench::RunSettings& settings);

/// Lists the facts that cannot be reported: "Not reported by this trace: attention, the pool." Empty if there
/// are none.
QString unreportedText(const ReportedFacts& reported, const std::vector<Fact>& needs);
/// Whether none of the facts can be reported; false if no fact is needed.
bool reportsNothing(const ReportedFacts& reported, const std::vector<Fact>& needs);

}  // namespace spanscope::ui

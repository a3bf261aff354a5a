// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace source may report, fact by fact, and what it does report. A view names the facts that it
// needs; where one is not reported, the window says so instead of showing nothing or zeros.
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
  TokenTexts,    ///< how each token reads
  BlockLookups,  ///< what was found of each block, and why not
  Pool,          ///< the blocks of the pool
  CachedTokens,  ///< how many tokens of a prompt were found
  TokenTimes,    ///< when each token of a reply came
  Passes,        ///< forward passes: their rows and how long they took
  Attention,     ///< where rows looked
  StepTimes,     ///< when a step began, got its first text and ended
};
inline constexpr std::size_t kFacts = 9;

/// Whether a fact is reported. A figure of a fact that is reported was found or, where it is 0, measured as
/// zero; a figure of any other fact is not known.
enum class Reporting : std::uint8_t {
  Reported,
  NotReported,      ///< so far; another run of the same source may report it
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

/// What the events of a trace report. A fact that none of them tells, though something has happened of which
/// they would, gets the state `missing`. Takes time for every event.
ReportedFacts reportedBy(const TraceStore& trace, Reporting missing);
/// What a session of the embedded engine reports of runs with these settings.
ReportedFacts reportedUnder(const workbench::RunSettings& settings);

/// Those of the facts that cannot be reported, as a sentence: "Not reported by this trace: attention, the
/// pool." Empty if there are none.
QString unreportedText(const ReportedFacts& reported, const std::vector<Fact>& needs);
/// Whether none of the facts can be reported; false if no fact is needed.
bool reportsNothing(const ReportedFacts& reported, const std::vector<Fact>& needs);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of the window, over all sessions: those whose trace is in memory, and of those whose trace has
// been let go what they came to.
#pragma once

#include "ui/session/run_record.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace spanscope::ui {

/// The speed of one run, from the passes that it was in. A pass counts with its whole time, also where it
/// computed tokens of other runs: that is how long this run waited for its own.
struct RunRates {
  std::optional<double> prefill;  ///< tokens a second, over passes with prompt tokens of the run
  std::optional<double> decode;   ///< tokens a second, over passes that only decode for the run
  bool operator==(const RunRates&) const = default;
};

/// Of the first `position` events.
RunRates ratesOf(const TraceStore& trace, std::size_t position, RunId run);
/// The same of every run that has passes there, in one look at them.
std::map<RunId, RunRates> ratesOfRuns(const TraceStore& trace, std::size_t position);
/// The warnings of the engine about the run as a whole, of the first `position` events.
QStringList warningsOf(const TraceStore& trace, std::size_t position, RunId run);

class RunHistory {
 public:
  /// More runs than this are not kept: the oldest go.
  static constexpr std::size_t kMostRuns = 1000;

  /// A list of its own: one that was handed out does not change.
  const std::shared_ptr<const RunRecords>& records() const { return m_records; }
  const RunRecord* find(RunId run) const;  ///< nullptr: not known
  /// The run that has this request.
  const RunRecord* findByRequest(RequestId request) const;

  /// `queryJson`: of its RunStarted event.
  void begin(RunRecord record, const std::string& queryJson);
  /// Notes what the run came to; its trace has its end.
  void end(RunId run);
  /// Keeps what was measured of one of its answers.
  void noteFidelity(RunId run, RequestId request, const trace::FidelityMeasured& measured);
  void noteArithmetic(RunId run, RequestId request, const trace::ArithmeticMeasured& measured);
  /// Its events can be read again from this file.
  void setFile(RunId run, const QString& file);
  /// Its events were read again.
  void setTrace(RunId run, const std::shared_ptr<const TraceStore>& trace);
  void remove(RunId run);
  /// Takes in a run of an earlier program.
  void add(RunRecord record);
  /// Another part of the same session stands for what was kept of it. Runs that are not in it keep their
  /// figures.
  void replaceTrace(const TraceStore* old, const std::shared_ptr<const TraceStore>& now);
  /// Lets traces go, those of the oldest session first, until all together take no more than so many bytes;
  /// `isShown` ones stay.
  void bound(std::uint64_t bytes, const std::function<bool(const TraceStore*)>& isShown);
  /// About how much memory the traces take.
  std::uint64_t traceBytes() const;

 private:
  void change(const std::function<void(RunRecords& records)>& change);
  void changeOne(RunId run, const std::function<void(RunRecord& record)>& change);

  std::shared_ptr<const RunRecords> m_records = std::make_shared<const RunRecords>();
};

/// The runs of a trace by itself, e.g. of a file. When they were is not known.
RunRecords recordsOf(const std::shared_ptr<const TraceStore>& trace, const QString& document);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of the window, over all sessions: those whose trace is in memory, and of those whose trace has
// been let go what they came to.
#pragma once

#include "engine/base/ids.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/replay.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/settings.h"
#include "ui/session/trace_store.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

// What the window keeps of a run: its settings, its time and its results. The record stays when model, cache
// or document change, and when the events of its session are no longer in memory.

struct RunRecord {
  RunId run = 0;             ///< unique among the runs of the window
  std::uint32_t tab = 0;     ///< tab of the run's document; 0: the run was made before this program started
  QString document{};        ///< title of the document when the run started
  QString path{};            ///< file of the document when the run started; empty: it had none
  QString model{};           ///< name of the checkpoint
  QStringList otherNames{};  ///< other models that its query names
  /// What the checkpoint was made for, if it says so and the query has none of the examples' texts; else
  /// empty.
  QString madeFor{};
  /// The settings of the run. For a run from an opened trace file, only the settings that the trace tells.
  workbench::RunSettings settings{};
  bool hasSettings = true;      ///< false: only policy, layout and seed of `settings` are known
  std::int64_t startedAt = 0;   ///< milliseconds since 1970, UTC; 0: not known
  document::NodePaths paths{};  ///< the document's node for each place of its query
  /// Every event of its session. Null: they are no longer in memory, which then holds only `figures`.
  std::shared_ptr<const TraceStore> trace{};
  /// The trace file from which its events can be read again; empty: there is none.
  QString file{};
  /// Once the run has ended: the run with its requests, without their blocks and tokens.
  std::shared_ptr<const trace::Progress> metricValues{};
  /// How the tokens of its prompts got their keys and values, once the run has ended.
  std::map<RequestId, metrics::PromptAccount> accounts{};
  QStringList warnings{};               ///< the engine's warnings about the run as a whole, once it has ended
  std::optional<double> prefillRate{};  ///< as RunRates has it, once the run has ended
  std::optional<double> decodeRate{};   ///< as RunRates has it, once the run has ended
  /// How close its answers are to a full prefill: the last measurement of each measured request.
  std::map<RequestId, std::shared_ptr<const trace::FidelityMeasured>> fidelity{};
  /// And how close the arithmetic they were computed in is to f32.
  std::map<RequestId, std::shared_ptr<const trace::ArithmeticMeasured>> arithmetic{};
  bool hasEvents() const { return trace != nullptr || !file.isEmpty(); }
  bool operator==(const RunRecord&) const = default;
};

/// Ascending by number of the run.
using RunRecords = std::vector<std::shared_ptr<const RunRecord>>;

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

/// The run alone, with its requests but without their blocks and tokens; null if `whole` does not have it.
std::shared_ptr<const trace::Progress> runSummary(const trace::Progress& whole, RunId run);

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

// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of the window, over all sessions. Only the results of a run remain if its trace is no longer in
// memory.
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

// The record of a run has its settings, its time and its results. A later change of the model, the cache or
// the document does not change the record. The record remains when the events of its session are no longer in
// memory.

struct RunRecord {
  RunId run = 0;             ///< unique among the runs of the window
  std::uint32_t tab = 0;     ///< tab of the run's document; 0: the run was made before this program started
  QString document{};        ///< title of the document when the run started
  QString path{};            ///< file of the document when the run started; empty: no file
  QString model{};           ///< name of the checkpoint
  QStringList otherNames{};  ///< other models that the query names.
  /// The purpose of the checkpoint. Empty if the checkpoint states no purpose, or if the query has texts of
  /// the examples.
  QString madeFor{};
  /// The settings of the run. For a run from an opened trace file, only the settings in the trace.
  workbench::RunSettings settings{};
  bool hasSettings = true;      ///< false: only policy, layout and seed of `settings` are known
  std::int64_t startedAt = 0;   ///< milliseconds since 1970, UTC; 0: not known
  document::NodePaths paths{};  ///< the document's node for each place of the run's query.
  /// Every event of the run's session. Null: the events are no longer in memory; `metricValues` remains.
  std::shared_ptr<const TraceStore> trace{};
  /// The trace file that contains the run's events; empty: there is no file.
  QString file{};
  /// The run and its requests without blocks and tokens, once the run has ended.
  std::shared_ptr<const trace::Progress> metricValues{};
  /// How the tokens of the run's prompts got their keys and values, once the run has ended.
  std::map<RequestId, metrics::PromptAccount> accounts{};
  QStringList warnings{};               ///< the engine's warnings about the whole run, once the run has ended
  std::optional<double> prefillRate{};  ///< RunRates::prefill, once the run has ended
  std::optional<double> decodeRate{};   ///< RunRates::decode, once the run has ended.
  /// The fidelity of the run's answers, compared with full prefill: the last measurement of each measured
  /// request.
  std::map<RequestId, std::shared_ptr<const trace::FidelityMeasured>> fidelity{};
  /// The accuracy of the arithmetic of the run's answers, compared with f32.
  std::map<RequestId, std::shared_ptr<const trace::ArithmeticMeasured>> arithmetic{};
  bool hasEvents() const { return trace != nullptr || !file.isEmpty(); }
  bool operator==(const RunRecord&) const = default;
};

/// Ascending by number of the run.
using RunRecords = std::vector<std::shared_ptr<const RunRecord>>;

/// The speed of one run, from its forward passes. A forward pass counts with its whole time, even if the pass
/// also computed tokens of other runs. The run waited that long for its own tokens.
struct RunRates {
  std::optional<double> prefill;  ///< tokens per second, over forward passes with prompt tokens of the run
  std::optional<double> decode;   ///< tokens per second, over forward passes that only decode for the run
  bool operator==(const RunRates&) const = default;
};

/// Returns the rates of a run in the first `position` events.
RunRates ratesOf(const TraceStore& trace, std::size_t position, RunId run);
/// Returns the rates of every run with forward passes in the first `position` events. Reads the events only
/// once.
std::map<RunId, RunRates> ratesOfRuns(const TraceStore& trace, std::size_t position);
/// Returns the engine's warnings about the run as a whole, in the first `position` events.
QStringList warningsOf(const TraceStore& trace, std::size_t position, RunId run);

/// Returns only this run and its requests, without blocks and tokens. Null: `whole` does not have the run.
std::shared_ptr<const trace::Progress> runSummary(const trace::Progress& whole, RunId run);

class RunHistory {
 public:
  /// Max number of runs. The oldest runs are removed first.
  static constexpr std::size_t kMostRuns = 1000;

  /// The current list. A returned list does not change later.
  const std::shared_ptr<const RunRecords>& records() const { return m_records; }
  const RunRecord* find(RunId run) const;  ///< nullptr: not known
  /// Returns the run that has this request; nullptr: not known.
  const RunRecord* findByRequest(RequestId request) const;

  /// Adds a run at its start. `queryJson` is the query of its RunStarted event.
  void begin(RunRecord record, const std::string& queryJson);
  /// Stores the results of a run. The trace must have the end of the run.
  void end(RunId run);
  /// Stores a measurement of one answer of the run.
  void noteFidelity(RunId run, RequestId request, const trace::FidelityMeasured& measured);
  void noteArithmetic(RunId run, RequestId request, const trace::ArithmeticMeasured& measured);
  /// Sets the file and the title of a run's document.
  void setDocument(RunId run, const QString& path, const QString& title);
  /// Sets the file that contains the events of a run.
  void setFile(RunId run, const QString& file);
  /// Sets the events of a run, after they were read from its file.
  void setTrace(RunId run, const std::shared_ptr<const TraceStore>& trace);
  void remove(RunId run);
  /// Adds a run of an earlier start of the program.
  void add(RunRecord record);
  /// Replaces the kept part of a session by another part of the same session. Runs that are not in the new
  /// part keep only their results.
  void replaceTrace(const TraceStore* old, const std::shared_ptr<const TraceStore>& now);
  /// Drops traces until all traces together take at most `bytes` bytes. Begins with the oldest session, and
  /// keeps traces for which `isShown` is true.
  void bound(std::uint64_t bytes, const std::function<bool(const TraceStore*)>& isShown);
  /// Returns the approximate memory of the traces.
  std::uint64_t traceBytes() const;

 private:
  void change(const std::function<void(RunRecords& records)>& change);
  void changeOne(RunId run, const std::function<void(RunRecord& record)>& change);

  std::shared_ptr<const RunRecords> m_records = std::make_shared<const RunRecords>();
};

/// Returns the runs of a separate trace, such as a file. The times of these runs are not known.
RunRecords recordsOf(const std::shared_ptr<const TraceStore>& trace, const QString& document);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The input of a view. What a view shows depends only on this: document, trace, selection, theme and the rest
// below.
#pragma once

#include "engine/compute/backends.h"
#include "engine/experiment/token_amount.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/document_predictor.h"
#include "ui/session/measured_jobs.h"
#include "ui/session/reported_facts.h"
#include "ui/session/run_history.h"
#include "ui/session/segment_identities.h"
#include "ui/session/selection.h"
#include "ui/session/token_counts.h"
#include "ui/session/trace_store.h"
#include "ui/theme/theme.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

struct AskedEstimate;
struct KnownServer;
struct LoadComparisons;

using KnownServers = std::map<std::string, KnownServer>;  ///< by name

/// What is known of models on this machine.
struct ModelsKnown {
  std::string loaded;               ///< directory of the model in memory; empty: none
  std::string fittingAdapter;       ///< LoadedModel::fittingAdapter
  std::vector<std::string> recent;  ///< directories used before, the newest first
  bool operator==(const ModelsKnown&) const = default;
};

/// What says how long it takes to measure something.
struct MeasuringFacts {
  /// Of the document's model on its device; nothing: not known.
  std::optional<experiment::SpeedSample> pace{};
  std::int64_t context = 0;  ///< positions of the loaded model, if the document runs on it; 0: not known
  bool operator==(const MeasuringFacts&) const = default;
};

/// The first key of each command as it is written, by the command's id. Commands without a key are left out.
using KeyTexts = std::map<QString, QString>;

struct ViewInput {
  std::shared_ptr<const document::Document> document;  ///< never null
  std::shared_ptr<const TraceStore> trace;             ///< never null; may be empty
  /// How many events of `trace` have happened; the scrubber sets it; ≤ trace->size().
  std::size_t position = 0;
  ReportedFacts reported;  ///< what the source of `trace` reports
  /// For each run of this document: the node that each NodePath of the trace means. Runs of other documents
  /// are not here.
  std::map<RunId, document::NodePaths> paths;
  /// All kept runs, of every document and session; null: there are only the runs of `trace`.
  std::shared_ptr<const RunRecords> records;
  /// Whether runs of `trace` that begin after `position` are listed too. True if the person chose an older
  /// run, rather than going back in time.
  bool listsLater = false;
  ModelsKnown models;
  /// The names of the servers that the person may have answer, ascending.
  std::vector<std::string> servers;
  /// What is known of them, for their simulators; null: nothing.
  std::shared_ptr<const KnownServers> knownServers;
  /// All devices; one that cannot be used says why. Null: not known yet.
  std::shared_ptr<const std::vector<compute::Device>> devices;
  /// The tokenizer of the loaded model; null while no model is loaded.
  std::shared_ptr<const text::Tokenizer> tokenizer;
  /// What has been counted with `tokenizer`; null: no counts are remembered.
  std::shared_ptr<TokenCounts> tokenCounts;
  std::uint64_t tokensCounted = 0;  ///< grows when missing counts have come
  Selection selection;
  Theme theme;
  PredictionState prediction;  ///< of the document's next run
  /// The newest jobs that measure the document, and those of the program, which every tab shows.
  MeasuredJobs measured;
  /// The names of the policies that the person wants to compare beside the document's own.
  std::vector<std::string> policiesWanted;
  MeasuringFacts measuring;
  /// How long the job would take that a view asked about; null: it has to ask.
  std::shared_ptr<const AskedEstimate> estimate;
  /// How long loading kept blocks takes on this machine compared with computing them, by model; null: never
  /// measured.
  std::shared_ptr<const LoadComparisons> loads;
  /// Numbers and hues of the parts of prompts; null: partIdentities() reads them.
  std::shared_ptr<const SegmentIdentities> identities;
  ReplayState replay;
  std::shared_ptr<const KeyTexts> keys;  ///< the person's keys; null: no keys are shown

  /// The state at `position`.
  const trace::Replay& state() const { return trace->stateAt(position); }
  /// The node that a path of a run means; kNoNode if it belongs to another document or is gone.
  document::NodeId nodeOf(RunId run, const NodePath& path) const;
  /// "Ctrl+Return", as a person reads it; empty if the command has no key.
  QString keyOf(const QString& command) const;
  /// The same, to follow what the command does: " (Ctrl+Return)".
  QString keyHint(const QString& command) const;
  /// Never null.
  std::shared_ptr<const SegmentIdentities> partIdentities() const;
  /// The request that views of one request show. It is the first of these that exists: the selected request;
  /// the request of the selected token; the request of the selected block; the last request of the selected
  /// node; the last request of this document; the last request of a trace from elsewhere. The last three
  /// count only requests that were laid out. 0: there is none.
  RequestId shownRequest() const;
};

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The input of a view. A view shows only this input: document, trace, selection, theme and the other members
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
#include "ui/session/run_history.h"
#include "ui/session/segment_identities.h"
#include "ui/session/selection.h"
#include "ui/session/token_counts.h"
#include "ui/session/trace_source.h"
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

struct KnownServer;

using KnownServers = std::map<std::string, KnownServer>;  ///< by name

/// The known models on this machine.
struct ModelsKnown {
  std::string loaded;               ///< directory of the model in memory; empty: none
  std::string fittingAdapter;       ///< LoadedModel::fittingAdapter
  std::vector<std::string> recent;  ///< directories that were used before, the newest first
  /// The speed of the document's model on its device; nothing: not known.
  std::optional<experiment::SpeedSample> pace{};
  /// Max positions of the loaded model, if the document runs on that model; 0: not known.
  std::int64_t context = 0;
  bool operator==(const ModelsKnown&) const = default;
};

/// The first key of each command, as text for the user, by the id of the command. Commands without a key are
/// left out.
using KeyTexts = std::map<QString, QString>;

struct ViewInput {
  std::shared_ptr<const document::Document> document;  ///< never null
  std::shared_ptr<const TraceStore> trace;             ///< never null; may be empty.
  /// The number of events of `trace` that have happened, ≤ trace->size(). The scrubber sets this number.
  std::size_t position = 0;
  ReportedFacts reported;  ///< what the source of `trace` reports.
  /// For each run of this document: the node that each NodePath of the trace means. Runs of other documents
  /// are not included.
  std::map<RunId, document::NodePaths> paths;
  /// All kept runs, of every document and session; null: there are only the runs of `trace`.
  std::shared_ptr<const RunRecords> records;
  /// Whether runs of `trace` that begin after `position` are listed too. False if the user moved back in time
  /// and did not choose an older run.
  bool listsLater = false;
  ModelsKnown models;
  /// The names of the servers that the user can choose, ascending.
  std::vector<std::string> servers;
  /// The known facts about these servers, for their cache simulators; null: nothing is known.
  std::shared_ptr<const KnownServers> knownServers;
  /// All devices; an unusable device has the reason. Null: not known yet.
  std::shared_ptr<const std::vector<compute::Device>> devices;
  /// The tokenizer of the loaded model; null while no model is loaded.
  std::shared_ptr<const text::Tokenizer> tokenizer;
  /// The known counts of `tokenizer`; null: no counts are remembered.
  std::shared_ptr<TokenCounts> tokenCounts;
  std::uint64_t tokensCounted = 0;  ///< grows when missing counts become known
  Selection selection;
  Theme theme;
  PredictionState prediction;  ///< of the document's next run.
  /// The newest jobs that measure the document, and the program's jobs, which every tab shows.
  MeasuredJobs measured;
  /// Numbers and hues of the sections of prompts; null: partIdentities() computes them.
  std::shared_ptr<const SegmentIdentities> identities;
  ReplayState replay;
  std::shared_ptr<const KeyTexts> keys;  ///< the user's keys; null: no keys are shown.

  /// The state at `position`.
  const trace::Replay& state() const { return trace->stateAt(position); }
  /// Returns the node that a path of a run means. kNoNode: the node belongs to another document or was
  /// deleted.
  document::NodeId nodeOf(RunId run, const NodePath& path) const;
  /// "Ctrl+Return", as text for the user; empty if the command has no key.
  QString keyOf(const QString& command) const;
  /// " (Ctrl+Return)", to append to the description of the command; empty if the command has no key.
  QString keyHint(const QString& command) const;
  /// Numbers and hues of the sections; never null.
  std::shared_ptr<const SegmentIdentities> partIdentities() const;
  /// Returns the request for views that show one request; 0: there is none. The result is the first of these
  /// requests that exists:
  /// - the selected request
  /// - the request of the selected token
  /// - the request of the selected block
  /// - the last request of the selected node
  /// - the last request of this document
  /// - the last request of a trace from elsewhere
  ///
  /// The last three items count only requests that were laid out.
  RequestId shownRequest() const;
};

}  // namespace spanscope::ui

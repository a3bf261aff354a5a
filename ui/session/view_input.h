// SPDX-License-Identifier: GPL-3.0-or-later
// What a view is a function of: document, trace, selection (and the theme it is drawn in).
#pragma once

#include "engine/compute/backends.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "ui/session/attention_replay.h"
#include "ui/session/forecast.h"
#include "ui/session/run_record.h"
#include "ui/session/segment_identities.h"
#include "ui/session/selection.h"
#include "ui/session/token_counts.h"
#include "ui/session/trace_store.h"
#include "ui/theme/theme.h"

#include <QString>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::ui {

struct Benchmark;
struct ExperimentRun;
struct LoadComparisons;

/// What is known of models on this machine.
struct ModelsKnown {
  std::string loaded;               ///< directory of the one in memory; empty: none
  std::vector<std::string> recent;  ///< directories that were used before, the newest first
  bool operator==(const ModelsKnown&) const = default;
};

/// How the first key of each command is written, by its id; commands without a key are not in it.
using KeyTexts = std::map<QString, QString>;

struct ViewInput {
  std::shared_ptr<const document::Document> document;  ///< never null
  std::shared_ptr<const TraceStore> trace;             ///< never null; may be empty
  std::size_t position = 0;  ///< how many of its events have happened, for the scrubber; ≤ trace->size()
  /// Of the runs of this document: which node a NodePath of the trace means. Runs of others are not here.
  std::map<RunId, document::NodePaths> paths;
  /// All runs that are kept, of this document and others, over all sessions; null: those of `trace` alone.
  std::shared_ptr<const RunRecords> records;
  /// Runs of `trace` that begin behind `position` are listed too: nobody went back in time, an older run was
  /// chosen.
  bool listsLater = false;
  ModelsKnown models;
  /// What could compute, what cannot with why; null: not known yet.
  std::shared_ptr<const std::vector<compute::Device>> devices;
  /// Of the loaded model; null while there is none.
  std::shared_ptr<const text::Tokenizer> tokenizer;
  /// What has been counted with it; null: nothing is remembered.
  std::shared_ptr<TokenCounts> tokenCounts;
  std::uint64_t tokensCounted = 0;  ///< grows when counts have come that were missing
  Selection selection;
  Theme theme;
  /// What the document's next run would find; null: not known yet, or a recorded run is shown.
  std::shared_ptr<const Forecast> forecast;
  /// The one before it that was known, to compare with; may be null.
  std::shared_ptr<const Forecast> forecastBefore;
  bool forecastIsPending = false;  ///< `forecast` is of how things were, and another one is being made
  /// What was measured of the document last, or is being measured; null: nothing.
  std::shared_ptr<const Benchmark> benchmark;
  /// What was tried out last, or is being tried out, whatever document is in view; null: nothing.
  std::shared_ptr<const ExperimentRun> experiment;
  /// What loading kept blocks took here beside computing them, by model; null: it was never measured.
  std::shared_ptr<const LoadComparisons> loads;
  /// Numbers and hues of the parts of prompts; null: partIdentities() reads them.
  std::shared_ptr<const SegmentIdentities> identities;
  ReplayState replay;
  std::shared_ptr<const KeyTexts> keys;  ///< as the person has them; null: none are named

  /// The state at `position`.
  const trace::Replay& state() const { return trace->stateAt(position); }
  /// The node a path of a run means; kNoNode where it is of another document or has gone.
  document::NodeId nodeOf(RunId run, const NodePath& path) const;
  /// "Ctrl+Return", as a person reads it; empty where the command has no key.
  QString keyOf(const QString& command) const;
  /// The same to stand behind what the command does: " (Ctrl+Return)".
  QString keyHint(const QString& command) const;
  /// Never null.
  std::shared_ptr<const SegmentIdentities> partIdentities() const;
  /// The request that views of one request show: the selected one or that of the selected token or block,
  /// else the last one of the selected node, else the last one of this document that was laid out, else the
  /// last one; 0: none at all.
  RequestId shownRequest() const;
};

}  // namespace spanscope::ui

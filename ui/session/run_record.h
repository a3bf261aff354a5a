// SPDX-License-Identifier: GPL-3.0-or-later
// What the window keeps of a run: its settings, its time and its results. The record stays when model, cache
// or document change, and when the events of its session are no longer in memory.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/replay.h"
#include "engine/trace/token_account.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/settings.h"
#include "ui/session/trace_store.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

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
  std::shared_ptr<const trace::Progress> figures{};
  /// How the tokens of its prompts got their keys and values, once the run has ended.
  std::map<RequestId, trace::PromptAccount> accounts{};
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

}  // namespace spanscope::ui

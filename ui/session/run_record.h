// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of a run: what it was made with, when, and what came of it. It stays when model, cache or
// document change, and when the trace of its session has gone.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/replay.h"
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
  RunId run = 0;             ///< unlike that of any other run of the window
  std::uint32_t tab = 0;     ///< of its document; 0: it was run by an earlier program
  QString document{};        ///< its title when the run started
  QString path{};            ///< its file then; empty: it had none
  QString model{};           ///< name of the checkpoint
  QStringList otherNames{};  ///< models that its query names instead
  /// With which it ran; of a trace that was opened only what the trace tells.
  workbench::RunSettings settings{};
  bool hasSettings = true;      ///< false: only policy, layout and seed of `settings` are known
  std::int64_t startedAt = 0;   ///< milliseconds since 1970, UTC; 0: not known
  document::NodePaths paths{};  ///< which node of the document each place of its query is
  /// Every event of its session; null: they were let go, and `figures` is all there is in memory.
  std::shared_ptr<const TraceStore> trace{};
  /// Trace file that has its events, from which they can be read again; empty: none has.
  QString file{};
  /// Once it has ended: the run with its requests, without their blocks and tokens.
  std::shared_ptr<const trace::Progress> figures{};
  QStringList warnings{};               ///< what the engine said of the run as a whole, once it has ended
  std::optional<double> prefillRate{};  ///< tokens a second over passes with prompt tokens, once it has ended
  std::optional<double> decodeRate{};   ///< and over those that only decode
  /// How close its answers are to a full prefill, where that was measured last; by request.
  std::map<RequestId, std::shared_ptr<const trace::FidelityMeasured>> fidelity{};
  bool hasEvents() const { return trace != nullptr || !file.isEmpty(); }
  bool operator==(const RunRecord&) const = default;
};

/// Ascending by run.
using RunRecords = std::vector<std::shared_ptr<const RunRecord>>;

}  // namespace spanscope::ui

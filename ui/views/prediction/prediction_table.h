// SPDX-License-Identifier: GPL-3.0-or-later
// The prediction of the cache hits of the document's next run, by step and span table. The view compares it
// with the previous prediction and with the last run.
#pragma once

#include "engine/run/prediction.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/token_account.h"
#include "ui/session/view_input.h"
#include "ui/views/common/block_painter.h"
#include "ui/words/metric_words.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The cache that the prediction uses.
enum class Against : std::uint8_t { Present, Empty };

using PredictionCounts = metrics::PredictedAccount;

/// A section of the prompt, or the tokens beside the prompt.
struct PredictionSegment {
  QString name;
  std::size_t hue = 0;
  document::NodeId node = document::kNoNode;
  QString kind;           ///< "independent", "dependent", "hidden"
  bool isHidden = false;  ///< tokens beside the prompt, without hue and start position.
  /// How the tokens of the section get their keys and values, counted as in other views after a run. If the
  /// segment contains an answer, the counts are upper bounds.
  TokenAccount account;
  /// The counts of `account` with the rows that the policy will choose. If the policy chooses among several
  /// sections, the counts are bounds.
  run::CountRange cached, relocated, again;
  bool holdsAnswer = false;
  std::int64_t base = 0;  ///< start position; an upper bound if an answer comes before it
  bool isAfterAnswer = false;
  QString sees;  ///< names of the segments that this segment attends to
  std::vector<BlockLook> blocks;
  QString blockWords;  ///< "2 hit, 1 computed (never stored)"
  bool operator==(const PredictionSegment&) const = default;
};

struct PredictionStep {
  StepIndex step = 0;
  QString name;
  document::NodeId node = document::kNoNode;
  PredictionCounts counts;
  std::optional<run::CountRange> computedBefore;  ///< computed tokens in the previous prediction
  std::optional<TokenAccount> ran;                ///< account of the prompt in the last run of the plan
  QStringList sentences;  ///< why counts are bounds; of a cache simulator: reasons for its hits and misses
  std::vector<PredictionSegment> segments;
  bool operator==(const PredictionStep&) const = default;
};

/// A cache that the next run could use.
struct PredictionPlace {
  QString id;               ///< the same from one prediction to the next
  QString name;             ///< "With spans here", "vLLM", "gpu-3, llama.cpp"
  bool isOwn = false;       ///< the document runs at this place
  QString problem;          ///< why there are no counts, in a sentence; empty: no problem
  PredictionCounts counts;  ///< sums over all steps
  QString why;      ///< main reason for computed tokens; empty: no cache simulator, or all tokens are cached
  QString setup;    ///< of a cache simulator: "vLLM 0.33.0, blocks of 16 tokens"
  QString history;  ///< of a cache simulator: the earlier requests of its cache
  QString orders;   ///< of a cache simulator: the written order, the best order and spans; empty: no choice
  bool operator==(const PredictionPlace&) const = default;
};

struct PredictionTable {
  QString gap;  ///< why the table is empty; empty: the table has content
  /// The embedded cache is first. The list is never empty if there is something to show.
  std::vector<PredictionPlace> places;
  std::size_t shown = 0;  ///< index in `places` for all members below
  QString error;          ///< why the run will or may fail
  bool errorIsCertain = false;
  bool isPending = false;
  QString cache;  ///< the cache that the prediction uses, in words
  PredictionCounts totals;
  std::optional<run::CountRange> computedBefore;
  std::optional<TokenAccount> ran;
  RunId ranRun = 0;  ///< the run of `ran`
  std::vector<PredictionStep> steps;
  bool operator==(const PredictionTable&) const = default;
};

/// `place`: PredictionPlace::id of the shown place. Empty or unknown: where the document runs. `simulators`:
/// results of the cache simulators, possibly for the query before the last change. Null: not known yet.
PredictionTable predictionTable(const ViewInput& input, Against against, const QString& place = {},
                                const AskedSimulators* simulators = nullptr);

/// The counts besides cached and computed tokens, in the words of other views: "12 recomputed", "30 padding",
/// "8 cropped". Counts that are 0 or unknown are left out.
QStringList accountWords(const PredictionCounts& counts);
/// "83 → 13" if the range has changed, else "13".
QString changedText(const std::optional<run::CountRange>& before, const run::CountRange& now);
QString predictionCsv(const PredictionTable& table);

}  // namespace spanscope::ui

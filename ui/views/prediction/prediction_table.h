// SPDX-License-Identifier: GPL-3.0-or-later
// What the document's next run would find in the cache: its steps and their span tables, compared with the
// prediction before and with the last run.
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

/// The cache against which the run is predicted.
enum class Against : std::uint8_t { Present, Empty };

using PredictionCounts = metrics::PredictedAccount;

/// A part of the prompt, or what lies beside the prompt.
struct PredictionSegment {
  QString name;
  std::size_t hue = 0;
  document::NodeId node = document::kNoNode;
  QString kind;           ///< "independent", "dependent", "hidden"
  bool isHidden = false;  ///< it lies beside the prompt and has neither hue nor base
  /// How its tokens get their keys and values, as other views count them after a run. The most possible, if
  /// it holds a reply.
  TokenAccount account;
  /// Those of the account, but with what the run will choose: bounds where it chooses among several parts.
  run::CountRange cached, relocated, again;
  bool holdsAnswer = false;
  std::int64_t base = 0;  ///< the most possible, if a reply stands before it
  bool isAfterAnswer = false;
  QString sees;  ///< names of the segments that it sees
  std::vector<BlockLook> blocks;
  QString blockWords;  ///< "2 hit, 1 computed (never seen)"
  bool operator==(const PredictionSegment&) const = default;
};

struct PredictionStep {
  StepIndex step = 0;
  QString name;
  document::NodeId node = document::kNoNode;
  PredictionCounts counts;
  std::optional<run::CountRange> computedBefore;  ///< computed tokens in the prediction before
  std::optional<TokenAccount> ran;                ///< of the prompt, in the last run of the plan
  QStringList sentences;  ///< why counts are bounds, if they are; of a twin, why it finds what it finds
  std::vector<PredictionSegment> segments;
  bool operator==(const PredictionStep&) const = default;
};

/// A cache in which the next run could be looked up.
struct PredictionPlace {
  QString id;               ///< the same from one prediction to the next
  QString name;             ///< "With spans here", "vLLM", "gpu-3, llama.cpp"
  bool isOwn = false;       ///< the document is run there
  QString problem;          ///< why there are no counts, in a sentence; empty: there are
  PredictionCounts counts;  ///< of all steps
  QString why;              ///< why not more is found; empty: it is not a twin, or all is found
  QString setup;            ///< of a twin: "vLLM 0.33.0, blocks of 16 tokens"
  QString history;          ///< of a twin: what its cache has had
  bool operator==(const PredictionPlace&) const = default;
};

struct PredictionTable {
  QString gap;  ///< why there is nothing to show; empty: there is something
  /// The embedded cache first; never empty if there is something to show.
  std::vector<PredictionPlace> places;
  std::size_t shown = 0;  ///< the place of all that follows
  QString error;          ///< why the run will or may fail
  bool errorIsCertain = false;
  bool isPending = false;
  QString cache;  ///< the cache against which it is predicted, in words
  PredictionCounts totals;
  std::optional<run::CountRange> computedBefore;
  std::optional<TokenAccount> ran;
  RunId ranRun = 0;  ///< the run of `ran`
  std::vector<PredictionStep> steps;
  bool operator==(const PredictionTable&) const = default;
};

/// `place`: PredictionPlace::id of the place that is shown; empty, or none of them: where the document is
/// run. `twins`: what they say, perhaps of the query before the last change; null: not known yet.
PredictionTable predictionTable(const ViewInput& input, Against against, const QString& place = {},
                                const AskedSimulators* simulators = nullptr);

/// What the counts say beside found and computed tokens, in the words of other views: "12 recomputed",
/// "30 padded", "8 cropped". Counts of 0, and such that are not known, are left out.
QStringList accountWords(const PredictionCounts& counts);
/// "83 → 13" if the range has changed, else "13".
QString changedText(const std::optional<run::CountRange>& before, const run::CountRange& now);
QString predictionCsv(const PredictionTable& table);

}  // namespace spanscope::ui

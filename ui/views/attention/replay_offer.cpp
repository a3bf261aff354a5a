// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/replay_offer.h"

#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QLocale>

namespace spanscope::ui {
namespace {

QString capitalized(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

/// "Layer 12, head 3 was computed again after the run, over 3212 tokens in the cache."
QString computedText(const trace::AttentionReplayed& replayed, const QString& name) {
  const QString cached = QLocale::c().toString(static_cast<qlonglong>(replayed.cachedTokens));
  if (replayed.recomputedTokens == 0)
    return tr("%1 was computed again after the run, over %2 tokens in the cache.")
        .arg(capitalized(name), cached);
  return tr("%1 was computed again after the run, over %2 tokens in the cache; %3 more were not there and "
            "were computed too.")
      .arg(capitalized(name), cached,
           QLocale::c().toString(static_cast<qlonglong>(replayed.recomputedTokens)));
}

}  // namespace

ReplayOffer replayOffer(const ViewInput& input, const AttentionModel& model,
                        const AttentionOptions& options) {
  ReplayOffer offer;
  if (input.replay.origin == TraceOrigin::Unknown || model.rowSet != AttentionRowSet::Answer ||
      model.rows.empty())
    return offer;
  const AnswerKnown& known = model.answer;
  if (!options.layer) {
    if (options.head && known.withBlocks < known.tokens)
      offer.text =
          tr("Blocks and tokens of head %1 were not recorded for all layers together: choose a layer.")
              .arg(*options.head);
    return offer;
  }
  const jobs::ReplayChoice choice{
      .request = model.request, .layer = *options.layer, .head = options.head.value_or(-1)};
  const QString name = layerAndHead(choice.layer, choice.head);
  const jobs::JobCall call = jobs::callOf<jobs::AttentionReplayJob>(choice);
  if (isRunning(input, call)) {
    offer.choice = choice;
    offer.isComputing = true;
    offer.text = tr("Computing %1 again: the answer is replayed over the cached blocks…").arg(name);
    return offer;
  }
  // If single keys would be too many, a replay gives only blocks.
  const bool isCoarse = known.replayed && !known.replayed->singleKeys;
  if (known.withKeys >= known.tokens || (isCoarse && known.withBlocks >= known.tokens)) {
    if (!known.replayed) return offer;
    offer.text = computedText(*known.replayed, name);
    if (!model.computedAgain) offer.text += QLatin1Char(' ') + tr("Open a column to see its blocks.");
    return offer;
  }
  offer.choice = choice;
  offer.text = known.withBlocks < known.tokens ? tr("Blocks and tokens of %1 were not recorded.").arg(name)
                                               : tr("Tokens of %1 were not recorded.").arg(name);
  const QString obstacle = jobObstacle(input, call);
  offer.canCompute = obstacle.isEmpty();
  if (!obstacle.isEmpty())
    offer.text += QLatin1Char(' ') + obstacle;
  else if (const QString problem = jobProblem(input, call); !problem.isEmpty())
    offer.text += QLatin1Char(' ') + problem;
  return offer;
}

}  // namespace spanscope::ui

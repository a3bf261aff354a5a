// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/replay_strip.h"

#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace spanscope::ui {

ReplayStrip::ReplayStrip(QWidget* parent)
    : QWidget(parent), m_text(new QLabel(this)), m_button(new QPushButton(this)) {
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setMinimumWidth(0);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, kSpace, 0, kSpace);
  row->setSpacing(2 * kSpace);
  row->addWidget(m_text, 1);
  row->addWidget(m_button, 0, Qt::AlignTop);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  connect(m_button, &QPushButton::clicked, this, [this] {
    if (m_offer.isComputing)
      Q_EMIT stopWanted();
    else
      Q_EMIT computeWanted();
  });
}

void ReplayStrip::setContent(const ReplayOffer& offer, const Theme& theme) {
  m_offer = offer;
  m_text->setText(offer.text);
  m_text->setFont(theme.smallFont());
  const QString style = QStringLiteral("color: %1").arg(theme.color(Role::TextSecond).name());
  if (m_text->styleSheet() != style) m_text->setStyleSheet(style);
  m_button->setVisible(offer.choice.has_value());
  m_button->setEnabled(offer.isComputing || offer.canCompute);
  m_button->setText(offer.isComputing ? tr("Stop") : tr("Compute again"));
  m_button->setToolTip(offer.isComputing
                           ? tr("Stop computing")
                           : tr("Replay the answer over the cached blocks to see blocks and tokens"));
  m_button->setAccessibleDescription(offer.text);
  setVisible(!offer.text.isEmpty());
}

namespace {

QString capitalized(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

/// "Layer 12, head 3 was computed again after the run, over 3212 tokens in the cache."
QString computedText(const trace::AttentionReplayed& replayed, const QString& name) {
  const QString cached = QLocale::c().toString(static_cast<qlonglong>(replayed.cachedTokens));
  if (replayed.recomputedTokens == 0)
    return tr("%1 was recomputed after the run, over %2 tokens in the cache.").arg(capitalized(name), cached);
  return tr("%1 was recomputed after the run, over %2 tokens in the cache and %3 tokens that were computed "
            "again.")
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
          tr("Blocks and tokens of head %1 were not recorded for all layers together. Choose a layer.")
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
    offer.text = tr("Recomputing %1 over the cached blocks…").arg(name);
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

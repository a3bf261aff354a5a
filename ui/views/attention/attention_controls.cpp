// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_controls.h"

#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QAction>
#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <functional>
#include <vector>

namespace spanscope::ui {

namespace {

constexpr int kMean = -1;

std::optional<std::int32_t> choiceOf(const QComboBox& box) {
  const int value = box.currentData().toInt();
  return value == kMean ? std::nullopt : std::optional<std::int32_t>(value);
}

void setChoice(QComboBox& box, const std::optional<std::int32_t>& choice) {
  box.setCurrentIndex(std::max(0, box.findData(choice.value_or(kMean))));
}

void fill(QComboBox& box, const QString& mean, const QString& each, const std::vector<std::int32_t>& values) {
  bool same = box.count() == static_cast<int>(values.size()) + 1;
  for (std::size_t i = 0; same && i < values.size(); ++i) {
    same = box.itemData(static_cast<int>(i) + 1).toInt() == values[i];
  }
  if (same) return;
  box.clear();
  box.addItem(mean, kMean);
  for (const std::int32_t value : values) box.addItem(each.arg(value), value);
}

}  // namespace

AttentionControls::AttentionControls(QHBoxLayout& row, QObject* parent) : QObject(parent) {
  addChoosers(row);
  addMenu(row);
  showChoice({}, {}, {});
}

void AttentionControls::addChoosers(QHBoxLayout& row) {
  m_layer = new QComboBox(row.parentWidget());
  m_layer->setAccessibleName(tr("Layer"));
  m_layer->setToolTip(tr("Show the attention of a layer, or the mean of all layers"));
  m_head = new QComboBox(row.parentWidget());
  m_head->setAccessibleName(tr("Head"));
  m_head->setToolTip(tr("Show the attention of a head, or the mean of all heads"));
  for (const QPointer<QComboBox>& box : {m_layer, m_head}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    row.addWidget(box);
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      if (!m_filling && m_layer && m_head) Q_EMIT choiceMade(choiceOf(*m_layer), choiceOf(*m_head));
    });
  }
}

void AttentionControls::addMenu(QHBoxLayout& row) {
  m_show = new QToolButton(row.parentWidget());
  m_show->setText(tr("Show"));
  m_show->setAccessibleName(tr("What the attention view shows"));
  m_show->setToolTip(tr("Choose what the view shows, and the rows and the scale of the heat map"));
  m_show->setPopupMode(QToolButton::InstantPopup);
  row.addWidget(m_show);
  auto* menu = new QMenu(m_show);
  m_show->setMenu(menu);
  m_displays = new QActionGroup(menu);
  const auto addDisplay = [&](const QString& text, AttentionDisplay display) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(display == AttentionDisplay::Words);
    m_displays->addAction(action);
    connect(action, &QAction::triggered, this, [this, display] { Q_EMIT displayChosen(display); });
  };
  addDisplay(tr("Words of the documents"), AttentionDisplay::Words);
  addDisplay(tr("Heat map"), AttentionDisplay::Map);
  addDisplay(tr("All heads, to choose one"), AttentionDisplay::Heads);
  menu->addSeparator();
  QAction* sinks = menu->addAction(tr("Map with first tokens (attention sinks)"));
  sinks->setCheckable(true);
  connect(sinks, &QAction::toggled, this, &AttentionControls::sinkToggled);
  addRowsAndScales(*menu);
}

void AttentionControls::addRowsAndScales(QMenu& menu) {
  QActionGroup* group = nullptr;
  const auto addGroup = [&] {
    menu.addSeparator();
    group = new QActionGroup(&menu);
  };
  const auto addChoice = [&](const QString& text, const std::function<void()>& choose) {
    QAction* action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(group->actions().isEmpty());
    group->addAction(action);
    connect(action, &QAction::triggered, this, choose);
  };
  addGroup();
  addChoice(tr("Map rows: tokens of the answer"), [this] { Q_EMIT rowsChosen(AttentionRowSet::Answer); });
  addChoice(tr("Map rows: the whole prompt"), [this] { Q_EMIT rowsChosen(AttentionRowSet::All); });
  addGroup();
  addChoice(tr("Map scale: linear"), [this] { Q_EMIT scaleChosen(AttentionScale::Linear); });
  addChoice(tr("Map scale: logarithmic"), [this] { Q_EMIT scaleChosen(AttentionScale::Logarithmic); });
  addChoice(tr("Map scale: by row"), [this] { Q_EMIT scaleChosen(AttentionScale::ByRow); });
}

void AttentionControls::showChoice(const AttentionModel& model, const std::optional<std::int32_t>& layer,
                                   const std::optional<std::int32_t>& head) {
  if (!m_layer || !m_head) return;
  m_filling = true;
  std::vector<std::int32_t> heads;
  for (std::int32_t h = 0; h < model.heads; ++h) heads.push_back(h);
  fill(*m_layer, tr("all layers"), tr("layer %1"), model.layers);
  fill(*m_head, tr("all heads"), tr("head %1"), heads);
  setChoice(*m_layer, layer);
  setChoice(*m_head, head);
  m_filling = false;
}

void AttentionControls::showDisplay(AttentionDisplay display) {
  if (m_displays) m_displays->actions().at(static_cast<int>(display))->setChecked(true);
}

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
  m_button->setText(offer.isComputing ? tr("Stop") : tr("Recompute"));
  m_button->setToolTip(
      offer.isComputing
          ? tr("Stop computing")
          : tr("Replay the answer over the cached blocks to get the attention to blocks and tokens"));
  m_button->setAccessibleDescription(offer.text);
  setVisible(!offer.text.isEmpty());
}

namespace {

QString capitalized(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

/// "Layer 12, head 3 was recomputed after the run, over 3212 tokens in the cache."
QString computedText(const trace::AttentionReplayed& replayed, const QString& name) {
  const QString cached = QLocale::c().toString(static_cast<qlonglong>(replayed.cachedTokens));
  if (replayed.recomputedTokens == 0)
    return tr(/*id:layer-computed-again*/ "%1 was recomputed after the run, over %2 tokens in the cache.")
        .arg(capitalized(name), cached);
  return tr("%1 was recomputed after the run, over %2 tokens in the cache and %3 tokens outside the cache.")
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
      offer.text = tr("The attention of head %1 to blocks and tokens was not recorded for all layers "
                      "together. Choose a layer.")
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
    offer.text = tr(/*id:computing-again-answer*/ "Recomputing %1 over the cached blocks…").arg(name);
    return offer;
  }
  // If there are too many single keys, a replay records only blocks.
  const bool isCoarse = known.replayed && !known.replayed->singleKeys;
  if (known.withKeys >= known.tokens || (isCoarse && known.withBlocks >= known.tokens)) {
    if (!known.replayed) return offer;
    offer.text = computedText(*known.replayed, name);
    return offer;
  }
  offer.choice = choice;
  offer.text =
      known.withBlocks < known.tokens
          ? tr(/*id:blocks-tokens-were*/ "The attention of %1 to blocks and tokens was not recorded.")
                .arg(name)
          : tr("The attention of %1 to single tokens was not recorded.").arg(name);
  const QString reason = jobReason(input, call);
  offer.canCompute = reason.isEmpty();
  if (!reason.isEmpty())
    offer.text += QLatin1Char(' ') + reason;
  else if (const QString problem = jobProblem(input, call); !problem.isEmpty())
    offer.text += QLatin1Char(' ') + problem;
  return offer;
}

}  // namespace spanscope::ui

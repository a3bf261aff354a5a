// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_controls.h"

#include <QAction>
#include <QActionGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
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
  m_show->setToolTip(tr("Choose what to show besides the sources, the rows, and the scale"));
  m_show->setPopupMode(QToolButton::InstantPopup);
  row.addWidget(m_show);
  auto* menu = new QMenu(m_show);
  m_show->setMenu(menu);
  const auto addSwitch = [&](const QString& text, void (AttentionControls::*toggled)(bool)) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    connect(action, &QAction::toggled, this, toggled);
    return action;
  };
  m_headsAction = addSwitch(tr("Show all heads, to choose one"), &AttentionControls::headsToggled);
  menu->addSeparator();
  addSwitch(tr("With question, answer and other text"), &AttentionControls::ownToggled);
  addSwitch(tr("With first tokens (attention sinks)"), &AttentionControls::sinkToggled);
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
  addChoice(tr("Rows: tokens of the answer"), [this] { Q_EMIT rowsChosen(AttentionRowSet::Answer); });
  addChoice(tr("Rows: the whole prompt"), [this] { Q_EMIT rowsChosen(AttentionRowSet::All); });
  addGroup();
  addChoice(tr("Scale: linear"), [this] { Q_EMIT scaleChosen(AttentionScale::Linear); });
  addChoice(tr("Scale: logarithmic"), [this] { Q_EMIT scaleChosen(AttentionScale::Logarithmic); });
  addChoice(tr("Scale: by row"), [this] { Q_EMIT scaleChosen(AttentionScale::ByRow); });
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

void AttentionControls::showHeads(bool shows) {
  if (m_headsAction) m_headsAction->setChecked(shows);
}

}  // namespace spanscope::ui

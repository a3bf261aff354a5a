// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_view.h"

#include "ui/views/pool/pool_area.h"
#include "ui/views/pool/pool_controls.h"
#include "ui/views/pool/store_cost.h"
#include "ui/views/pool/store_list.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

PoolView::PoolView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace | InputPart::Loads, Pace::EveryInput, parent),
      m_area(new PoolArea(this)),
      m_store(new StoreList(this)),
      m_cost(new StoreCostStrip(this)),
      m_detailLabel(new QLabel(this)) {
  setAccessibleName(tr("Pool"));
  setFocusProxy(m_area);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_area, 1);
  column->addWidget(m_store);
  column->addWidget(m_cost);
  column->addWidget(m_detailLabel);
  m_detailLabel->setAccessibleName(tr("Selected block"));
  m_detailLabel->setWordWrap(true);
  m_detailLabel->setTextFormat(Qt::PlainText);
  m_detailLabel->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_detailLabel->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_detailLabel->setContentsMargins(3 * kSpace, kSpace, 3 * kSpace, 2 * kSpace);
  m_detailLabel->hide();
  m_area->showPool(&m_table, m_shade, kNullBlock, theme());
  m_area->setTips([this](BlockId block) { return input() ? poolTip(*input(), block) : QString(); });
  connect(m_area, &PoolArea::chosen, this, &PoolView::select);
  connect(m_cost, &StoreCostStrip::measureWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.experiment:load")); });
}

QWidget* PoolView::takeTitleControls() {
  if (!m_controls) {
    m_controls = new PoolControls;
    connect(m_controls, &PoolControls::shadeWanted, this, &PoolView::setShade);
    showControls();
  }
  return m_controls;
}

void PoolView::showControls() {
  if (m_controls) m_controls->showShade(m_shade, m_table.oldest, m_table.anyLoaded, theme());
}

void PoolView::setShade(PoolShade shade) {
  if (m_shade == shade) return;
  m_shade = shade;
  if (input() != nullptr) refresh();
}

BlockId PoolView::current() const {
  const Selection& selection = input()->selection;
  if (selection.physical != kNullBlock || !selection.block) return selection.physical;
  const auto& requests = input()->state().progress().requests;
  const auto request = requests.find(selection.block->request);
  if (request == requests.end()) return kNullBlock;
  const auto block = request->second.blocks.find({selection.block->segment, selection.block->virtualIndex});
  return block == request->second.blocks.end() ? kNullBlock : block->second.block;
}

void PoolView::refresh() {
  m_history.follow(input()->trace);
  m_table = poolTable(*input(), m_history, m_shade);
  const BlockId block = current();
  m_detail = block == kNullBlock ? PoolDetail{} : poolDetail(*input(), m_history, block);
  m_area->showPool(&m_table, m_shade, block, theme());
  const StoreTable store = storeTable(*input());
  m_store->showStore(store, theme(), height());
  m_cost->showCost(storeCost(*input()), theme());
  m_cost->setVisible(!store.rows.empty());
  showControls();

  QPalette colours = m_detailLabel->palette();
  colours.setColor(QPalette::WindowText, theme().color(Role::TextSecond));
  m_detailLabel->setPalette(colours);
  m_detailLabel->setFont(theme().smallFont());
  m_detailLabel->setText(m_detail.text);
  m_detailLabel->setVisible(!m_detail.text.isEmpty());
  m_area->setAccessibleDescription(m_detail.text);
  if (m_revealed != block) {
    m_revealed = block;
    m_area->reveal(block);
  }
  if (m_summary == m_table.summary) return;
  m_summary = m_table.summary;
  Q_EMIT summaryChanged(m_summary);
}

void PoolView::select(BlockId block) {
  if (input() != nullptr) Q_EMIT selectionWanted(selectionOfPhysical(*input(), m_history, block));
}

QString PoolView::csv() const {
  return input() == nullptr ? QString() : poolCsv(*input());
}

void PoolView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  m_area->paintPicture(painter, size);
}

}  // namespace spanscope::ui

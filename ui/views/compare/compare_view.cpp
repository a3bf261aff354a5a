// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/compare_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kColumns = 4;

Role inkOf(const CompareRow& row) {
  switch (row.verdict) {
    case Verdict::Better:
      return Role::HitInk;
    case Verdict::Worse:
      return Role::ComputedInk;
    case Verdict::Differs:
      return Role::RelocatedInk;
    case Verdict::Same:
    case Verdict::None:
      break;
  }
  return Role::TextThird;
}

}  // namespace

CompareView::CompareView(QWidget* parent) : RunView(parent), m_table(new QTableWidget(this)) {
  setAccessibleName(tr("Compare"));
  m_table->setAccessibleName(tr("Two runs side by side"));
  m_table->setColumnCount(kColumns);
  m_table->verticalHeader()->hide();
  m_table->setShowGrid(false);
  m_table->setWordWrap(true);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(3, QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  m_table->verticalHeader()->setMinimumSectionSize(26);
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);

  QHBoxLayout* row = titleRow();
  row->parentWidget()->hide();
  m_leftBox = new QComboBox(row->parentWidget());
  m_leftBox->setAccessibleName(tr("Run on the left"));
  m_rightBox = new QComboBox(row->parentWidget());
  m_rightBox->setAccessibleName(tr("Run on the right"));
  row->addWidget(m_leftBox);
  row->addWidget(new QLabel(tr("with"), row->parentWidget()));
  row->addWidget(m_rightBox);
  for (const QPointer<QComboBox>& box : {m_leftBox, m_rightBox}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      if (m_filling || !m_leftBox || !m_rightBox) return;
      setRuns(m_leftBox->currentData().toUInt(), m_rightBox->currentData().toUInt());
    });
  }
}

void CompareView::setRuns(RunId left, RunId right) {
  m_left = left;
  m_right = right;
  if (input() != nullptr) refresh();
}

QString CompareView::emptyText() const {
  if (!m_model.rows.empty()) return {};
  return tr(
      "Run a query twice, e.g. with its documents swapped or with another policy, to compare the runs.");
}

void CompareView::refresh() {
  CompareModel model = compareModel(*input(), m_left, m_right);
  const bool same = model == m_model && m_shown == input()->theme;
  m_model = std::move(model);
  m_table->setVisible(!m_model.rows.empty());
  if (same) return;
  if (m_shown != input()->theme) m_table->setStyleSheet(tableStyle(input()->theme));
  m_shown = input()->theme;
  fillChoices();
  fillTable();
  update();
}

void CompareView::fillChoices() {
  if (!m_leftBox || !m_rightBox) return;
  m_filling = true;
  for (const QPointer<QComboBox>& box : {m_leftBox, m_rightBox}) {
    bool same = box->count() == static_cast<int>(m_model.runs.size());
    for (int i = 0; same && i < box->count(); ++i) {
      same = box->itemText(i) == m_model.labels[static_cast<std::size_t>(i)];
    }
    if (!same) {
      box->clear();
      for (std::size_t i = 0; i < m_model.runs.size(); ++i) box->addItem(m_model.labels[i], m_model.runs[i]);
    }
    box->setCurrentIndex(box->findData(box == m_leftBox ? m_model.left : m_model.right));
  }
  // With fewer than two runs there is nothing to choose.
  m_leftBox->parentWidget()->setVisible(m_model.runs.size() > 1);
  m_filling = false;
}

void CompareView::fillTable() {
  const Theme now = theme();
  m_table->setHorizontalHeaderLabels(
      {QString(), tr("Run %1").arg(m_model.left), tr("Run %1").arg(m_model.right), tr("Change")});
  m_table->setRowCount(static_cast<int>(m_model.rows.size()));
  for (int r = 0; r < m_table->rowCount(); ++r) {
    const CompareRow& row = m_model.rows[static_cast<std::size_t>(r)];
    const QStringList texts{row.name, row.left, row.right, row.change};
    for (int c = 0; c < kColumns; ++c) {
      auto* item = new QTableWidgetItem(texts[c]);
      item->setFont(c == 0 || row.text ? now.interfaceFont() : now.monoFont());
      item->setForeground(now.color(c == 0 ? Role::TextSecond : c == 3 ? inkOf(row) : Role::Text));
      item->setToolTip(row.help);
      m_table->setItem(r, c, item);
    }
  }
}

PaintedTable CompareView::painted() const {
  PaintedTable table{
      .headers = {QString(), tr("Run %1").arg(m_model.left), tr("Run %1").arg(m_model.right), tr("Change")},
      .shares = {4, 7, 7, 3},
      .rows = {}};
  for (const CompareRow& row : m_model.rows) {
    table.rows.push_back({{row.name, Role::TextSecond, false},
                          {row.left, Role::Text, !row.text},
                          {row.right, Role::Text, !row.text},
                          {row.change, inkOf(row), !row.text}});
  }
  return table;
}

QString CompareView::csv() const {
  if (input() == nullptr) return {};
  const CompareModel model = compareModel(*input(), m_left, m_right);
  return model.rows.empty() ? QString() : compareCsv(model);
}

void CompareView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (!paintIfEmpty(painter, size)) paintTableInto(painter, size, painted(), theme());
}

}  // namespace spanscope::ui

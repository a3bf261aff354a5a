// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/metric_picker.h"

#include "engine/lesson/lesson.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {
namespace {

constexpr QSize kPickerSize(440, 520);  // pixels

bool fits(const metrics::Metric& metric, MetricPicker::Kind kind) {
  switch (kind) {
    case MetricPicker::Kind::Any:
      return true;
    case MetricPicker::Kind::Number:
      return metric.unit != metrics::Unit::Text && metric.unit != metrics::Unit::Place;
    case MetricPicker::Kind::Block:
      return metric.unit == metrics::Unit::Place;
    case MetricPicker::Kind::Comparison:
      return !metric.isTime();
  }
  return true;
}

}  // namespace

MetricPicker::MetricPicker(Choice choice, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_choice(std::move(choice)) {
  const bool isClaim = m_choice.kind == Kind::Comparison;
  setObjectName(QStringLiteral("figurePicker"));
  setWindowTitle(isClaim ? tr("Choose statement") : tr("Choose metric"));
  auto* column = new QVBoxLayout(this);
  auto* row = new QHBoxLayout;
  m_run = new QComboBox;
  m_run->setAccessibleName(tr("Run"));
  for (std::uint32_t run = 1; run <= m_choice.runs; ++run) {
    const bool isMade = m_choice.factsOf(run) != nullptr;
    m_run->addItem(isMade ? tr("run %1").arg(run) : tr("run %1, not run yet").arg(run));
  }
  m_run->setCurrentIndex(static_cast<int>(m_choice.run) - 1);
  m_of = new QComboBox;
  m_of->setAccessibleName(tr("Scope"));
  m_of->addItem(tr("the whole run"));
  if (m_choice.node) m_of->addItem(m_choice.nodeName);
  m_of->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_of->setMinimumContentsLength(16);
  m_of->setEnabled(m_choice.node.has_value());
  m_of->setToolTip(tr("Choose metrics of the whole run, or of the selected node"));
  row->addWidget(m_run);
  row->addWidget(m_of, 1);
  column->addLayout(row);
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("e.g. cached tokens"));
  m_search->setAccessibleName(tr("Search metrics"));
  m_search->installEventFilter(this);
  column->addWidget(m_search);
  m_table = new QTableWidget(0, 2);
  m_table->setAccessibleName(tr("Metrics with their values"));
  m_table->setHorizontalHeaderLabels({tr("metric"), tr("now")});
  m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  m_table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Interactive);
  m_table->setColumnWidth(1, 150);
  m_table->verticalHeader()->hide();
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setTabKeyNavigation(false);
  m_table->setShowGrid(false);
  column->addWidget(m_table, 2);
  m_meaning = new QLabel;
  m_meaning->setWordWrap(true);
  m_meaning->setTextFormat(Qt::PlainText);
  m_meaning->setFont(theme.smallFont());
  m_meaning->setMinimumHeight(2 * QFontMetrics(theme.smallFont()).lineSpacing());
  column->addWidget(m_meaning);
  m_said = new QListWidget;
  m_said->setAccessibleName(tr("True statements"));
  m_said->setVisible(isClaim);
  column->addWidget(m_said, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_take = buttons->addButton(isClaim ? tr("Use statement") : tr("Use metric"), QDialogButtonBox::AcceptRole);
  m_take->setObjectName(QStringLiteral("primary"));
  m_take->setDefault(true);
  column->addWidget(buttons);
  resize(kPickerSize);

  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_run, &QComboBox::currentIndexChanged, this, &MetricPicker::fill);
  connect(m_of, &QComboBox::currentIndexChanged, this, &MetricPicker::fill);
  connect(m_search, &QLineEdit::textChanged, this, &MetricPicker::fill);
  connect(m_table, &QTableWidget::currentCellChanged, this, &MetricPicker::showChosen);
  connect(m_table, &QTableWidget::doubleClicked, this, [this] {
    if (m_take->isEnabled()) accept();
  });
  connect(m_said, &QListWidget::itemDoubleClicked, this, &QDialog::accept);
  fill();
  m_search->setFocus(Qt::OtherFocusReason);
}

/// In the search field, the arrow keys move through the metrics.
bool MetricPicker::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp || key == Qt::Key_PageDown) {
      QCoreApplication::sendEvent(m_table, event);
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void MetricPicker::fill() {
  const lesson::OfferedMetric* const before = current();
  const metrics::Metric* const wanted = before == nullptr ? nullptr : before->metric;
  const auto run = static_cast<std::uint32_t>(m_run->currentIndex() + 1);
  const auto node = m_of->currentIndex() > 0 ? m_choice.node : std::nullopt;
  std::vector<lesson::OfferedMetric> metricValues;
  for (lesson::OfferedMetric& one : lesson::offeredMetrics(run, node, m_choice.factsOf)) {
    const QString name = QString::fromStdString(metrics::lessonName(*one.metric));
    if (fits(*one.metric, m_choice.kind) && name.contains(m_search->text().trimmed(), Qt::CaseInsensitive))
      metricValues.push_back(std::move(one));
  }
  int row = 0;
  int exact = -1;
  {
    const QSignalBlocker blocker(m_table);
    m_metrics = std::move(metricValues);
    m_table->setRowCount(static_cast<int>(m_metrics.size()));
    for (int i = 0; i < m_table->rowCount(); ++i) {
      const lesson::OfferedMetric& one = m_metrics[static_cast<std::size_t>(i)];
      if (one.metric == wanted) row = i;
      const QString words = QString::fromStdString(metrics::lessonName(*one.metric));
      // A complete name selects the metric with this name.
      if (m_search->text().trimmed() == words) exact = i;
      auto* name = new QTableWidgetItem(words);
      name->setToolTip(QCoreApplication::translate("Metrics", one.metric->meaning));
      const QString value = QString::fromStdString(one.value).simplified();
      auto* now = new QTableWidgetItem(one.value.empty() ? QStringLiteral("–") : value);
      now->setToolTip(one.value.empty() ? QString::fromStdString(one.missing) : value);
      m_table->setItem(i, 0, name);
      m_table->setItem(i, 1, now);
    }
    if (!m_metrics.empty()) m_table->setCurrentCell(exact < 0 ? row : exact, 0);
  }
  showChosen();
}

const lesson::OfferedMetric* MetricPicker::current() const {
  const int row = m_table->currentRow();
  return row < 0 || static_cast<std::size_t>(row) >= m_metrics.size()
             ? nullptr
             : &m_metrics[static_cast<std::size_t>(row)];
}

void MetricPicker::showChosen() {
  const lesson::OfferedMetric* const metric = current();
  m_said->clear();
  if (metric == nullptr) {
    m_meaning->setText(tr("No metric has this name."));
  } else {
    const QString meaning = QCoreApplication::translate("Metrics", metric->metric->meaning);
    m_meaning->setText(
        metric->missing.empty()
            ? meaning
            : tr("%1 – no current value: %2").arg(meaning, QString::fromStdString(metric->missing)));
    if (m_choice.kind == Kind::Comparison) {
      for (const std::string& text : lesson::offeredComparisons(*metric, m_choice.factsOf))
        m_said->addItem(QString::fromStdString(text));
      m_said->setCurrentRow(0);
    }
  }
  m_take->setEnabled(metric != nullptr && (m_choice.kind != Kind::Comparison || m_said->count() > 0));
}

QString MetricPicker::chosen() const {
  if (m_choice.kind == Kind::Comparison) {
    const QListWidgetItem* said = m_said->currentItem();
    return said == nullptr ? QString() : said->text();
  }
  const lesson::OfferedMetric* const metric = current();
  return metric == nullptr ? QString() : QString::fromStdString(metric->expression);
}

}  // namespace spanscope::ui

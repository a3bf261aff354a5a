// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiments_view.h"

#include "engine/base/error.h"
#include "engine/experiment/experiment_table.h"
#include "ui/views/common/empty_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/experiments/experiment_plot.h"
#include "ui/words/experiment_words.h"

#include <QClipboard>
#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kGap = 2 * kSpace;
constexpr int kRowHeight = 26;
constexpr int kProgressSteps = 1000;
constexpr int kMostRepeats = 1000;
constexpr int kPlotHeight = 260;
constexpr int kTextLine = 20;

}  // namespace

ExperimentsView::ExperimentsView(QWidget* parent)
    : InputView(InputPart::Document | InputPart::Experiment, Pace::MayWait, parent) {
  setAccessibleName(tr("Experiments"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kGap, kGap, kGap, 0);
  layout->setSpacing(kGap);
  layout->addWidget(makeHead());
  m_progress = new QProgressBar(this);
  m_progress->setAccessibleName(tr("How much is measured"));
  m_progress->setRange(0, kProgressSteps);
  m_progress->setTextVisible(false);
  m_progress->setFixedHeight(kSpace);
  m_progress->hide();
  layout->addWidget(m_progress);
  m_scroll = new QScrollArea(this);
  m_scroll->setWidget(makeResults());
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  m_scroll->viewport()->setAutoFillBackground(false);
  m_scroll->widget()->setAutoFillBackground(false);
  layout->addWidget(m_scroll, 1);
  makeFields();
  setFocusProxy(m_choice);
}

QWidget* ExperimentsView::makeHead() {
  auto* head = new QWidget(this);
  auto* rows = new QVBoxLayout(head);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(kGap);
  m_choice = new QComboBox(head);
  m_choice->setAccessibleName(tr("Experiment"));
  m_choice->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  for (const experiment::Experiment* one : experiment::experiments()) {
    m_choice->addItem(experimentWord(one->title), QString::fromUtf8(one->name));
    m_choice->setItemData(m_choice->count() - 1, experimentWord(one->brief), Qt::ToolTipRole);
  }
  ignoreWheelWithoutFocus(m_choice);
  m_repeats = new QSpinBox(head);
  m_repeats->setAccessibleName(tr("Repeats"));
  m_repeats->setToolTip(tr("Runs of each place: medians need several"));
  m_repeats->setRange(1, kMostRepeats);
  m_repeats->setSuffix(tr(" repeats"));
  ignoreWheelWithoutFocus(m_repeats);
  m_run = new QPushButton(tr("Run"), head);
  m_doing = new QLabel(head);
  m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_measure = new QComboBox(head);
  m_measure->setAccessibleName(tr("What is drawn"));
  m_measure->setToolTip(tr("What is drawn"));
  ignoreWheelWithoutFocus(m_measure);
  m_copy = new QToolButton(head);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the table as text"));
  m_copy->setAutoRaise(true);
  m_copy->hide();
  auto* choice = new QHBoxLayout;
  choice->setSpacing(kGap);
  choice->addWidget(m_choice, 1);
  choice->addWidget(m_repeats);
  choice->addWidget(m_run);
  auto* doing = new QHBoxLayout;
  doing->setSpacing(kGap);
  doing->addWidget(m_doing, 1);
  doing->addWidget(m_measure);
  doing->addWidget(m_copy);
  rows->addLayout(choice);
  rows->addLayout(doing);
  connect(m_choice, &QComboBox::currentIndexChanged, this, [this] {
    keepFields();
    makeFields();
    if (input() != nullptr) refresh();
  });
  connect(m_measure, &QComboBox::activated, this, [this] {
    if (input() != nullptr) refresh();
  });
  connect(m_run, &QPushButton::clicked, this, &ExperimentsView::runOrStop);
  connect(m_copy, &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(experimentText(m_model)); });
  return head;
}

QWidget* ExperimentsView::makeResults() {
  auto* results = new QWidget;
  auto* rows = new QVBoxLayout(results);
  rows->setContentsMargins(0, 0, 0, kGap);
  rows->setSpacing(kGap);
  m_brief = new QLabel(results);
  m_brief->setWordWrap(true);
  m_form = new QWidget(results);
  m_grid = new QGridLayout(m_form);
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(kGap);
  m_grid->setVerticalSpacing(kSpace);
  m_grid->setColumnStretch(1, 1);
  m_setup = new QLabel(results);
  m_setup->setWordWrap(true);
  m_setup->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_plot = new ExperimentPlot(results);
  m_plot->setMinimumHeight(kPlotHeight);
  m_table = new QTableWidget(results);
  m_table->setAccessibleName(tr("Figures of the experiment"));
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  showWholeRows(*m_table, kRowHeight);
  m_table->horizontalHeader()->setStretchLastSection(false);
  m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->setSizeAdjustPolicy(QAbstractScrollArea::AdjustIgnored);
  m_table->installEventFilter(this);
  m_remarks = new QLabel(results);
  m_remarks->setWordWrap(true);
  m_remarks->setTextFormat(Qt::PlainText);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  rows->addWidget(m_brief);
  rows->addWidget(m_form);
  rows->addWidget(m_setup);
  rows->addWidget(m_plot, 1);
  rows->addWidget(m_table);
  rows->addWidget(m_remarks);
  rows->addStretch();
  return results;
}

QString ExperimentsView::chosen() const {
  return m_choice->currentData().toString();
}

void ExperimentsView::choose(const QString& name) {
  const int index = m_choice->findData(name);
  if (index >= 0) m_choice->setCurrentIndex(index);
}

QLineEdit* ExperimentsView::field(const QString& key) const {
  const auto found = m_fields.find(key);
  return found == m_fields.end() ? nullptr : found->second;
}

/// One row a field of the chosen experiment, with what was typed there last.
void ExperimentsView::makeFields() {
  m_fields.clear();
  while (QLayoutItem* item = m_grid->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
  m_made = chosen();
  const experiment::Experiment* one = experiment::findExperiment(m_made.toStdString());
  if (one == nullptr) return;
  const auto known = m_wishes.find(m_made);
  experiment::ExperimentWish wish = known != m_wishes.end()
                                        ? known->second
                                        : experiment::completed({.experiment = one->name, .values = {}});
  QWidget* before = m_copy;
  int row = 0;
  for (const experiment::ExperimentField& field : one->fields) {
    const QString name = experimentWord(field.name);
    auto* label = new QLabel(name, m_form);
    auto* line = new QLineEdit(QString::fromStdString(wish.values[field.key]), m_form);
    line->setAccessibleName(name);
    line->setAccessibleDescription(experimentWord(field.help));
    line->setToolTip(experimentWord(field.help));
    label->setToolTip(line->toolTip());
    label->setBuddy(line);
    connect(line, &QLineEdit::textChanged, this, &ExperimentsView::checkWish);
    connect(line, &QLineEdit::returnPressed, this, [this] {
      if (!m_model.isRunning && m_run->isEnabled()) runOrStop();
    });
    m_grid->addWidget(label, row, 0);
    m_grid->addWidget(line, row, 1);
    m_fields.emplace(QString::fromUtf8(field.key), line);
    setTabOrder(before, line);
    before = line;
    ++row;
  }
  setTabOrder(before, m_table);
  m_repeats->setValue(wish.repeats);
  m_brief->setText(experimentWord(one->brief));
  m_measure->clear();
  m_shown.reset();
}

void ExperimentsView::keepFields() {
  if (m_made.isEmpty()) return;
  experiment::ExperimentWish kept{.experiment = m_made.toStdString(), .values = {}};
  for (const auto& [key, line] : m_fields) kept.values[key.toStdString()] = line->text().toStdString();
  kept.repeats = m_repeats->value();
  m_wishes[m_made] = std::move(kept);
}

experiment::ExperimentWish ExperimentsView::wish() const {
  experiment::ExperimentWish wish{.experiment = chosen().toStdString(), .values = {}};
  for (const auto& [key, line] : m_fields) wish.values[key.toStdString()] = line->text().toStdString();
  wish.repeats = m_repeats->value();
  return wish;
}

void ExperimentsView::setWish(const experiment::ExperimentWish& wish) {
  choose(QString::fromStdString(wish.experiment));
  for (const auto& [key, value] : wish.values) {
    if (QLineEdit* line = field(QString::fromStdString(key))) line->setText(QString::fromStdString(value));
  }
  if (wish.repeats > 0) m_repeats->setValue(wish.repeats);
}

/// What is wrong with the fields stands where otherwise stands what goes on.
void ExperimentsView::checkWish() {
  QString problem;
  try {
    experiment::completed(wish());
  } catch (const Failure& failure) {
    problem = QString::fromUtf8(failure.what());
  }
  m_run->setEnabled(m_model.isRunning || problem.isEmpty());
  m_doing->setText(problem.isEmpty() ? (m_model.isRunning ? m_model.doing : QString()) : problem);
  m_doing->setToolTip(m_doing->text());
  m_doing->setVisible(!m_doing->text().isEmpty() || !m_model.rows.empty());
  colorLabel(*m_doing, theme(), problem.isEmpty() ? Role::TextSecond : Role::Error);
}

void ExperimentsView::runOrStop() {
  Q_EMIT commandWanted(m_model.isRunning ? QStringLiteral("run.stop")
                                         : QStringLiteral("run.experiment:") + experimentWishText(wish()));
}

QString ExperimentsView::introduction() const {
  return m_choice->currentText() + QStringLiteral("\n\n") + m_brief->text();
}

void ExperimentsView::refresh() {
  const int drawn = std::max(0, m_measure->currentIndex());
  m_model = experimentsModel(*input(), chosen(), static_cast<std::size_t>(drawn));
  if (m_shown != input()->theme) {
    m_shown = input()->theme;
    m_table->setStyleSheet(tableStyle(theme()));
    for (QLabel* label : {m_setup, m_remarks, m_doing, m_brief}) {
      label->setFont(theme().smallFont());
      colorLabel(*label, theme(), Role::TextSecond);
    }
    for (QLabel* label : m_form->findChildren<QLabel*>()) colorLabel(*label, theme(), Role::TextSecond);
    for (const auto& [key, line] : m_fields) line->setFont(theme().monoFont());
  }
  if (m_measure->count() != m_model.measures.size()) {
    m_measure->clear();
    m_measure->addItems(m_model.measures);
  }
  m_run->setText(m_model.isRunning ? tr("Stop") : tr("Run"));
  m_run->setToolTip(m_model.isRunning
                        ? tr("What was measured stays")
                        : tr("Runs on the model of this document; other runs wait until it has ended"));
  for (const auto& [key, line] : m_fields) line->setReadOnly(m_model.isRunning);
  m_repeats->setEnabled(!m_model.isRunning);
  m_progress->setVisible(m_model.isRunning && m_model.isKnown);
  m_progress->setValue(static_cast<int>(m_model.progress * kProgressSteps));
  const bool hasRows = !m_model.rows.empty();
  m_copy->setVisible(hasRows);
  m_measure->setVisible(hasRows && m_model.measures.size() > 1);
  m_setup->setText(m_model.setup);
  m_setup->setVisible(m_model.isKnown);
  m_table->setVisible(hasRows);
  const bool isFirst = hasRows && m_plot->isHidden();
  m_plot->setVisible(hasRows);
  m_remarks->setText(m_model.remarks.join(QLatin1Char('\n')));
  m_remarks->setVisible(!m_model.remarks.empty());
  colorLabel(*m_remarks, theme(), m_model.isProblem ? Role::Error : Role::TextSecond);
  if (hasRows) {
    fillTable();
    m_plot->setContent(m_model, theme());
    // In a low dock the fields would hide what is being drawn.
    if (isFirst) {
      QMetaObject::invokeMethod(
          this, [this] { m_scroll->ensureWidgetVisible(m_plot, 0, kGap); }, Qt::QueuedConnection);
    }
  }
  checkWish();
  update();
  Q_EMIT summaryChanged(m_model.isRunning && m_model.isKnown
                            ? tr("%1 %").arg(static_cast<int>(100 * m_model.progress))
                            : QString());
}

void ExperimentsView::fillTable() {
  const Theme now = theme();
  m_table->setColumnCount(static_cast<int>(m_model.columns.size()));
  m_table->setRowCount(static_cast<int>(m_model.rows.size()));
  for (int c = 0; c < m_table->columnCount(); ++c) {
    auto* title = new QTableWidgetItem(m_model.columns.value(c));
    title->setFont(now.smallFont());
    title->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_table->setHorizontalHeaderItem(c, title);
  }
  for (int r = 0; r < m_table->rowCount(); ++r) {
    const QStringList& row = m_model.rows[static_cast<std::size_t>(r)];
    for (int c = 0; c < m_table->columnCount(); ++c) {
      auto* item = new QTableWidgetItem(row.value(c));
      item->setFont(c == 0 ? now.interfaceFont() : now.monoFont());
      item->setForeground(now.color(c > 2 && c % 2 == 0 ? Role::TextSecond : Role::Text));
      item->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      m_table->setItem(r, c, item);
    }
  }
  fitTable();
}

/// As high as its rows; columns as wide as their texts, and together as wide as the room if there is more.
void ExperimentsView::fitTable() {
  const int columns = m_table->columnCount();
  if (columns == 0) return;
  m_table->resizeColumnsToContents();
  int wanted = 0;
  for (int c = 0; c < columns; ++c) wanted += m_table->columnWidth(c);
  const int spare = m_table->viewport()->width() - wanted;
  for (int c = 0; c < columns && spare > 0; ++c)
    m_table->setColumnWidth(c, m_table->columnWidth(c) + spare * (c + 1) / columns - spare * c / columns);
  const int bar = spare < 0 ? m_table->horizontalScrollBar()->sizeHint().height() : 0;
  m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() +
                          m_table->rowCount() * kRowHeight + bar + 2);
}

bool ExperimentsView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::Resize) fitTable();
  return InputView::eventFilter(watched, event);
}

QString ExperimentsView::csv() const {
  if (input() == nullptr || !input()->experiment || input()->experiment->result.points.empty()) return {};
  return QString::fromStdString(experiment::experimentCsv(input()->experiment->result));
}

void ExperimentsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  if (m_model.rows.empty()) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(), theme());
    return;
  }
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  const auto write = [&](const QString& text, Role ink) {
    painter.setFont(theme().interfaceFont());
    painter.setPen(theme().color(ink));
    QRect place(kGap, y, width, size.height());
    painter.drawText(place, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text, &place);
    y = std::max(y + kTextLine, place.bottom() + kSpace);
  };
  write(m_model.title, Role::Text);
  write(m_model.setup, Role::TextSecond);
  PaintedTable table{.headers = {m_model.columns.begin(), m_model.columns.end()}, .shares = {}, .rows = {}};
  for (int c = 0; c < m_model.columns.size(); ++c)
    table.shares.push_back(c == 0 ? 9 : c < 3 ? 4 : c % 2 == 1 ? 9 : 8);
  for (const QStringList& row : m_model.rows) {
    std::vector<PaintedCell>& cells = table.rows.emplace_back();
    for (int c = 0; c < row.size(); ++c) cells.push_back({row[c], Role::Text, c > 0});
  }
  const int tableHeight = paintedTableHeight(table, theme(), width);
  // The lines say more at a glance: the table has what they leave.
  const int left = size.height() - y - kGap;
  const int plotHeight = std::max(left / 2, std::min(kPlotHeight, left));
  m_plot->setContent(m_model, theme());
  m_plot->paint(painter, QRect(kGap, y, width, plotHeight));
  y += plotHeight + kGap;
  const int room = size.height() - y - kGap;
  if (room > 2 * kRowHeight)
    paintTable(painter, QRect(kGap, y, width, std::min(room, tableHeight + 1)), table, theme());
}

}  // namespace spanscope::ui

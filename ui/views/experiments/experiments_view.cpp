// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiments_view.h"

#include "engine/base/error.h"
#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/own_documents.h"
#include "engine/jobs/experiment.h"
#include "engine/workbench/document/document_query.h"
#include "ui/session/job_estimate.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/experiments/experiment_charts.h"
#include "ui/views/experiments/experiment_form.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QAbstractItemView>
#include <QClipboard>
#include <QComboBox>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {

namespace {

std::string translated(const char* text) {
  return experimentWord(text).toStdString();
}

}  // namespace

QString chartKindTitle(experiment::ChartKind kind) {
  switch (kind) {
    case experiment::ChartKind::Lines:
      return tr("Lines");
    case experiment::ChartKind::HeatMap:
      return tr("Heat map");
    case experiment::ChartKind::Histograms:
      return tr("Histograms");
  }
  return {};
}

ExperimentsModel experimentsModel(const ViewInput& input, const QString& name, const ExperimentLook& look) {
  ExperimentsModel model;
  const MeasuredJob* job = findMeasured(input.measured, jobs::ExperimentJob::kId);
  model.isRunning = job != nullptr && job->isRunning();
  const experiment::Experiment* chosen = experiment::findExperiment(name.toStdString());
  if (chosen == nullptr) return model;
  for (const experiment::Measure& one : chosen->measures)
    model.measures += QString::fromStdString(experiment::measureTitle(one, translated));
  model.measure = std::min(look.measure, chosen->measures.size() - 1);
  model.title = experimentWord(chosen->title);
  model.xName = experimentWord(chosen->xName);
  model.rowName = *chosen->yName == '\0' ? QString() : experimentWord(chosen->yName);
  model.kinds = experiment::chartKindsOf(*chosen);
  const auto wanted = std::find(model.kinds.begin(), model.kinds.end(), look.kind);
  model.kind = wanted == model.kinds.end() ? model.kinds.front() : *wanted;
  model.yName = model.measures.value(static_cast<qsizetype>(model.measure));
  if (job == nullptr) return model;
  const experiment::ExperimentResult& result = *measured<jobs::ExperimentJob>(input.measured);
  if (result.request.experiment != chosen->name) return model;
  model.isKnown = true;
  model.progress = result.progress();
  // A narrow dock cuts the end of the line.
  model.doing = withTimeLeft(job->secondsLeft, QString::fromStdString(result.doing));
  if (!result.model.empty()) model.setup = QString::fromStdString(experiment::experimentSetup(result));
  model.isProblem = job->state == workbench::JobState::Failed;
  if (model.isProblem) model.remarks += job->problem;
  if (job->state == workbench::JobState::Stopped)
    model.remarks +=
        tr(/*id:experiment-stopped*/ "The experiment was stopped. Finished measurements are kept.");
  for (const std::string& remark : result.remarks) model.remarks += QString::fromStdString(remark);
  if (result.points.empty()) return model;
  const experiment::ExperimentTable table = experiment::experimentTable(result);
  QStringList titles{experimentWord(QT_TRANSLATE_NOOP("Experiments", "line")), model.xName};
  if (!model.rowName.isEmpty()) titles += model.rowName;
  titles += experimentWord(QT_TRANSLATE_NOOP("Experiments", "samples"));
  const auto places = static_cast<std::size_t>(titles.size());  // columns before the measures
  for (const QString& one : model.measures)
    titles += {one, experimentWord(QT_TRANSLATE_NOOP("Experiments", "spread"))};
  model.table.headers = {titles.begin(), titles.end()};
  const auto isSpread = [places](std::size_t column) {
    return column > places && (column - places) % 2 == 1;
  };
  for (std::size_t c = 0; c < model.table.headers.size(); ++c)
    model.table.shares.push_back(c == 0 ? 9 : c < places ? 4 : isSpread(c) ? 8 : 10);
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<PaintedCell>& cells = model.table.rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const QString text = QString::fromStdString(row[c]);
      cells.push_back({.text = text,
                       .ink = isSpread(c) ? Role::TextSecond : Role::Text,
                       .mono = c > 0,
                       .isRight = c > 0,
                       .raw = c == 0 ? QVariant() : leadingNumber(text)});
    }
  }
  for (const experiment::ExperimentPoint& point : result.points) model.places.push_back(point.x);
  std::sort(model.places.begin(), model.places.end());
  model.places.erase(std::unique(model.places.begin(), model.places.end()), model.places.end());
  if (look.place && std::binary_search(model.places.begin(), model.places.end(), *look.place))
    model.place = look.place;
  model.chart = experiment::experimentChart(
      result, {.measure = model.measure, .kind = model.kind, .place = model.place}, translated);
  return model;
}

QString experimentText(const ExperimentsModel& model) {
  QString text =
      model.title + QLatin1Char('\n') + model.setup + QStringLiteral("\n\n") + tabbedText(model.table);
  for (const QString& remark : model.remarks) text += remark + QLatin1Char('\n');
  return text;
}

namespace {

constexpr int kGap = 2 * kSpace;
constexpr int kLeastChoice = 14;  // letters of an experiment's name
constexpr int kMostRepeats = 1000;
constexpr int kPlotHeight = 260;
constexpr int kTextLine = 20;
constexpr int kPause = 300;  // milliseconds without a key until typing has paused

}  // namespace

ExperimentsView::ExperimentsView(QWidget* parent)
    : InputView(InputPart::Document | InputPart::Measured, Pace::MayWait, parent) {
  setAccessibleName(tr("Experiments"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kGap, kGap, kGap, 0);
  layout->setSpacing(kGap);
  layout->addWidget(makeHead());
  m_progress = makeMeasureProgress(this);
  layout->addWidget(m_progress);
  m_scroll = makeResultScroll(makeResults(), this);
  layout->addWidget(m_scroll, 1);
  m_asking.setSingleShot(true);
  m_asking.setInterval(kPause);
  connect(&m_asking, &QTimer::timeout, this, [this] {
    if (input() != nullptr && isVisible() && !m_model.isRunning && requestProblem().isEmpty())
      Q_EMIT estimateWanted(jobs::callOf<jobs::ExperimentJob>(request()));
  });
  makeFields();
  setFocusProxy(m_choice);
}

QWidget* ExperimentsView::makeHead() {
  auto* head = new QWidget(this);
  auto* rows = new QVBoxLayout(head);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(kGap);
  m_choice = new ElidedCombo(head);
  // In a narrow dock this box shrinks, so that the button beside it fits.
  m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_choice->setMinimumContentsLength(kLeastChoice);
  m_choice->setAccessibleName(tr("Experiment"));
  m_choice->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  for (const experiment::Experiment* one : experiment::experiments()) {
    m_choice->addItem(experimentWord(one->title), QString::fromUtf8(one->name));
    m_choice->setItemData(m_choice->count() - 1, experimentWord(one->brief), Qt::ToolTipRole);
  }
  ignoreWheelWithoutFocus(m_choice);
  m_repeats = new QSpinBox(head);
  m_repeats->setAccessibleName(tr("Repeats"));
  m_repeats->setToolTip(tr("Set the number of runs per point. A median needs several runs"));
  m_repeats->setRange(1, kMostRepeats);
  m_repeats->setSuffix(tr(" repeats"));
  ignoreWheelWithoutFocus(m_repeats);
  int widest = 0;
  for (int i = 0; i < m_choice->count(); ++i)
    widest = std::max(widest, m_choice->fontMetrics().horizontalAdvance(m_choice->itemText(i)));
  m_choice->view()->setMinimumWidth(widest + 8 * kSpace);
  m_run = new QPushButton(tr("Run"), head);
  m_doing = new QLabel(head);
  m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  m_doing->setTextFormat(Qt::PlainText);
  m_doing->setWordWrap(true);
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
  rows->addLayout(choice);
  rows->addLayout(makeDrawingRow(head));
  connect(m_choice, &QComboBox::currentIndexChanged, this, [this] {
    makeFields();
    if (input() != nullptr) refresh();
  });
  connect(m_run, &QPushButton::clicked, this, &ExperimentsView::runOrStop);
  connect(m_copy, &QToolButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(experimentText(m_model)); });
  return head;
}

/// Makes the progress, and the options of the chart.
QHBoxLayout* ExperimentsView::makeDrawingRow(QWidget* head) {
  const auto choice = [&](const QString& name) {
    auto* box = new QComboBox(head);
    box->setAccessibleName(name);
    box->setToolTip(name);
    ignoreWheelWithoutFocus(box);
    return box;
  };
  m_chart = choice(tr("Form of the chart"));
  m_measure = choice(tr("Metric of the chart"));
  m_place = choice(tr("Points of the chart"));
  auto* row = new QHBoxLayout;
  row->setSpacing(kGap);
  row->addWidget(m_doing, 1);
  for (QWidget* widget : std::initializer_list<QWidget*>{m_chart, m_measure, m_place, m_copy})
    row->addWidget(widget);
  const auto look = [this] {
    m_look = {.measure = static_cast<std::size_t>(std::max(0, m_measure->currentIndex())),
              .kind = static_cast<experiment::ChartKind>(m_chart->currentData().toInt()),
              .place = std::nullopt};
    if (m_place->currentIndex() > 0) m_look.place = m_place->currentData().toDouble();
    if (input() != nullptr) refresh();
  };
  for (QComboBox* box : {m_chart, m_measure, m_place}) connect(box, &QComboBox::activated, this, look);
  return row;
}

QWidget* ExperimentsView::makeResults() {
  auto* results = new QWidget;
  auto* rows = new QVBoxLayout(results);
  rows->setContentsMargins(0, 0, 0, kGap);
  rows->setSpacing(kGap);
  m_brief = new QLabel(results);
  m_brief->setWordWrap(true);
  m_form = new ExperimentForm(results);
  connect(m_form, &ExperimentForm::changed, this, &ExperimentsView::checkRequest);
  connect(m_form, &ExperimentForm::runWanted, this, [this] {
    if (!m_model.isRunning && m_run->isEnabled()) runOrStop();
  });
  m_setup = new QLabel(results);
  m_setup->setWordWrap(true);
  m_setup->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_plot = new ExperimentPlot(results);
  m_plot->setMinimumHeight(kPlotHeight);
  m_heatMap = new HeatMapChart(results);
  m_histograms = new HistogramChart(results);
  m_table = new ResultTable(tr("Metrics of the experiment"), results);
  m_remarks = new QLabel(results);
  m_remarks->setWordWrap(true);
  m_remarks->setTextFormat(Qt::PlainText);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  rows->addWidget(m_brief);
  rows->addWidget(m_form);
  rows->addWidget(m_setup);
  rows->addWidget(m_plot, 1);
  rows->addWidget(m_heatMap, 1);
  rows->addWidget(m_histograms, 1);
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

CellChart& ExperimentsView::heatMap() {
  return *m_heatMap;
}

CellChart& ExperimentsView::histograms() {
  return *m_histograms;
}

void ExperimentsView::makeFields() {
  const experiment::Experiment* one = experiment::findExperiment(chosen().toStdString());
  if (one == nullptr) return;
  m_repeats->setValue(m_form->showExperiment(*one, m_repeats->value()));
  // Qt moves one widget at a time, so each following widget is moved after it.
  std::vector<QWidget*> order = m_form->focusOrder();
  order.insert(order.end(), {m_heatMap, m_histograms, m_table});
  QWidget* before = m_copy;
  for (QWidget* each : order) {
    setTabOrder(before, each);
    before = each;
  }
  m_brief->setText(experimentWord(one->brief));
  m_look = {};
  m_measure->clear();
  m_chart->clear();
  m_place->clear();
  m_shown.reset();
}

experiment::ExperimentRequest ExperimentsView::request() const {
  return {.experiment = chosen().toStdString(),
          .values = m_form->values(),
          .repeats = m_repeats->value(),
          .source = m_form->source(),
          .expected = m_form->expected()};
}

void ExperimentsView::setRequest(const experiment::ExperimentRequest& request) {
  choose(QString::fromStdString(request.experiment));
  m_form->setSource(request.source);
  m_form->setExpected(QString::fromStdString(request.expected));
  for (const auto& [key, value] : request.values)
    m_form->setValue(QString::fromStdString(key), QString::fromStdString(value));
  if (request.repeats > 0) m_repeats->setValue(request.repeats);
}

void ExperimentsView::perform(const QString& command) {
  const QString text = command.section(QLatin1Char(':'), 1);
  experiment::ExperimentRequest unknown;
  unknown.experiment = text.toStdString();
  setRequest(experiment::completed(readExperimentRequest(text).value_or(std::move(unknown))));
}

void ExperimentsView::setChart(experiment::ChartKind kind, std::optional<double> place) {
  m_look.kind = kind;
  m_look.place = place;
  if (input() != nullptr) refresh();
}

const ExperimentsView::OwnCount& ExperimentsView::ownCount() {
  const std::shared_ptr<const document::Document> document = input() == nullptr ? nullptr : input()->document;
  if (document == nullptr || document == m_ownCount.document) return m_ownCount;
  m_ownCount = {.document = document, .count = {}, .problem = {}};
  if (document->root() == document::kNoNode) {
    m_ownCount.problem = tr("The query is empty.");
    return m_ownCount;
  }
  const document::QueryOf taken = document::toQuery(*document, document::TakeOut::MutedAndFrozen);
  if (!taken.query) {
    m_ownCount.problem = tr("The query is incomplete: an input is missing.");
    return m_ownCount;
  }
  try {
    m_ownCount.count = experiment::countDocuments(*taken.query);
  } catch (const Failure& failure) {
    m_ownCount.problem = QString::fromUtf8(failure.what());
  }
  return m_ownCount;
}

QString ExperimentsView::requestProblem() {
  std::optional<std::size_t> ownDocuments;
  if (m_form->source() == experiment::DocumentSource::Own) {
    const OwnCount& own = ownCount();
    if (!own.problem.isEmpty()) return own.problem;
    ownDocuments = own.count;
    m_form->fitNumbers(ownDocuments);
  }
  try {
    experiment::completed(request(), ownDocuments);
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

/// Shows the problem of the fields in the place of the progress.
void ExperimentsView::checkRequest() {
  const QString problem = requestProblem();
  m_run->setEnabled(m_model.isRunning || problem.isEmpty());
  m_doing->setText(!problem.isEmpty() ? problem : m_model.isRunning ? m_model.doing : estimate());
  m_doing->setToolTip(m_doing->text());
  colorLabel(*m_doing, theme(), problem.isEmpty() ? Role::TextSecond : Role::Error);
}

QString ExperimentsView::estimate() {
  if (input() == nullptr) return {};
  if (m_form->source() == experiment::DocumentSource::Own && !ownCount().count)
    return tr(/*id:document-count-unknown*/
              "The number of documents is unknown until the augment has retrieved passages.");
  const jobs::JobCall call = jobs::callOf<jobs::ExperimentJob>(request());
  if (const AskedEstimate* known = findEstimate(input()->measured, call)) return estimateText(*known);
  // The request is new, or its estimate is outdated because of a run or another document.
  m_asking.start();
  return {};
}

QString ExperimentsView::said() const {
  return m_doing->text();
}

void ExperimentsView::runOrStop() {
  Q_EMIT commandWanted(m_model.isRunning
                           ? QStringLiteral("run.stop:experiment")
                           : QStringLiteral("run.experiment:") + experimentRequestText(request()));
}

QString ExperimentsView::introduction() const {
  return m_choice->currentText() + QStringLiteral("\n\n") + m_brief->text();
}

void ExperimentsView::refresh() {
  m_model = experimentsModel(*input(), chosen(), m_look);
  if (m_shown != input()->theme) {
    m_shown = input()->theme;
    m_table->setTheme(theme());
    for (QLabel* label : {m_setup, m_remarks, m_doing, m_brief}) {
      label->setFont(theme().smallFont());
      colorLabel(*label, theme(), Role::TextSecond);
    }
    // A problem takes two lines in a narrow dock. The space of these lines is always reserved, so that
    // nothing moves.
    m_doing->setFixedHeight(2 * QFontMetrics(theme().smallFont()).lineSpacing());
    m_form->setTheme(theme());
  }
  fillChoices();
  m_run->setText(m_model.isRunning ? tr("Stop") : tr("Run"));
  m_run->setToolTip(
      m_model.isRunning
          ? tr("Stop the experiment and keep finished measurements")
          : tr("Run the experiment on the model of this query. Other runs can start between two steps"));
  m_form->setReadOnly(m_model.isRunning);
  m_repeats->setEnabled(!m_model.isRunning);
  m_progress->setVisible(m_model.isRunning && m_model.isKnown);
  m_progress->setValue(static_cast<int>(m_model.progress * kProgressSteps));
  const bool hasRows = !m_model.table.rows.empty();
  m_copy->setVisible(hasRows);
  m_measure->setVisible(hasRows && m_model.measures.size() > 1);
  m_chart->setVisible(hasRows);
  m_place->setVisible(hasRows && m_model.kind == experiment::ChartKind::Histograms &&
                      m_model.places.size() > 1);
  m_setup->setText(m_model.setup);
  m_setup->setVisible(m_model.isKnown);
  m_table->setVisible(hasRows);
  const bool isFirst = hasRows && m_plot->isHidden() && m_heatMap->isHidden() && m_histograms->isHidden();
  m_plot->setVisible(hasRows && m_model.kind == experiment::ChartKind::Lines);
  m_heatMap->setVisible(hasRows && m_model.kind == experiment::ChartKind::HeatMap);
  m_histograms->setVisible(hasRows && m_model.kind == experiment::ChartKind::Histograms);
  m_remarks->setText(m_model.remarks.join(QLatin1Char('\n')));
  m_remarks->setVisible(!m_model.remarks.empty());
  colorLabel(*m_remarks, theme(), m_model.isProblem ? Role::Error : Role::TextSecond);
  if (hasRows) {
    m_table->setTable(m_model.table);
    showChart();
    // In a low dock, the fields would hide the chart.
    if (isFirst) {
      QTimer::singleShot(0, this, [this] { m_scroll->verticalScrollBar()->setValue(m_setup->y()); });
    }
  }
  checkRequest();
  update();
  Q_EMIT summaryChanged(m_model.isRunning && m_model.isKnown
                            ? tr("%1 %").arg(static_cast<int>(100 * m_model.progress))
                            : QString());
}

/// Fills the boxes with the experiment's options, and selects the drawn ones.
void ExperimentsView::fillChoices() {
  if (m_measure->count() != m_model.measures.size()) {
    m_measure->clear();
    m_measure->addItems(m_model.measures);
  }
  m_measure->setCurrentIndex(static_cast<int>(m_model.measure));
  if (m_chart->count() != static_cast<int>(m_model.kinds.size())) {
    m_chart->clear();
    for (const experiment::ChartKind kind : m_model.kinds)
      m_chart->addItem(chartKindTitle(kind), static_cast<int>(kind));
  }
  m_chart->setCurrentIndex(m_chart->findData(static_cast<int>(m_model.kind)));
  if (m_place->count() != static_cast<int>(m_model.places.size()) + 1) {
    m_place->clear();
    m_place->addItem(tr("at all points"));
    for (const double place : m_model.places)
      m_place->addItem(tr("%1 %2").arg(QString::number(place), m_model.xName), place);
  }
  const auto at = m_model.place ? std::find(m_model.places.begin(), m_model.places.end(), *m_model.place)
                                : m_model.places.end();
  m_place->setCurrentIndex(at == m_model.places.end() ? 0
                                                      : static_cast<int>(at - m_model.places.begin()) + 1);
}

void ExperimentsView::showChart() {
  const auto contentOf = [this]<class Drawn>(const Drawn& none) {
    const auto* drawn = std::get_if<Drawn>(&m_model.chart);
    return drawn == nullptr ? none : *drawn;
  };
  switch (m_model.kind) {
    case experiment::ChartKind::Lines:
      m_plot->setContent(contentOf(experiment::LineChart()), m_model.title, theme());
      return;
    case experiment::ChartKind::HeatMap:
      m_heatMap->setContent(contentOf(experiment::HeatChart()),
                            tr("%1: %2").arg(m_model.title, m_model.yName), theme());
      return;
    case experiment::ChartKind::Histograms:
      m_histograms->setContent(contentOf(experiment::HistogramChart()),
                               tr("%1: %2").arg(m_model.title, m_model.yName), theme());
      return;
  }
}

QString ExperimentsView::csv() const {
  if (input() == nullptr) return {};
  const auto result = measured<jobs::ExperimentJob>(input()->measured);
  return !result || result->points.empty() ? QString()
                                           : QString::fromStdString(experiment::experimentCsv(*result));
}

void ExperimentsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  if (m_model.table.rows.empty()) {
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
  const int tableHeight = paintedTableHeight(m_model.table, theme(), width);
  // The chart is easier to read, so the table gets the rest of the height.
  const int left = size.height() - y - kGap;
  int plotHeight = std::max(left / 2, std::min(kPlotHeight, left));
  showChart();
  if (m_model.kind == experiment::ChartKind::Lines) {
    m_plot->paint(painter, QRect(kGap, y, width, plotHeight));
  } else {
    CellChart& chart = m_model.kind == experiment::ChartKind::HeatMap ? heatMap() : histograms();
    const int wanted = chart.heightFor(width);
    plotHeight = std::min(left, std::clamp(plotHeight, wanted, wanted * 3 / 2));
    chart.paint(painter, QRect(kGap, y, width, plotHeight));
  }
  y += plotHeight + kGap;
  const int room = size.height() - y - kGap;
  if (room > 2 * kResultRowHeight)
    paintTable(painter, QRect(kGap, y, width, std::min(room, tableHeight + 1)), m_model.table, theme());
}

ViewInfo experimentsRow() {
  return {.id = QStringLiteral("experiments"),
          .title = tr("Experiments"),
          .help = tr("Experiments with a chart: time, fidelity and accuracy, by policy"),
          .make = makeViewOf<ExperimentsView>,
          .places = {{LayoutId::Measure, Room::Low, Room::Large, 0, 0, 3, 0}}};
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/probe/probe_view.h"

#include "engine/base/error.h"
#include "engine/experiment/own_documents.h"
#include "engine/metrics/metric_table.h"
#include "engine/policy/policies.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/workbench/document/document_query.h"
#include "ui/document/document_model.h"
#include "ui/session/job_estimate.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/experiments/experiment_charts.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QCheckBox>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kGap = 2 * kSpace;
constexpr int kPause = 300;  // milliseconds until an estimate is requested

using experiment::ProbeRow;

QString natsText(double value) {
  return QString::fromStdString(trace::divergenceText(value));
}

QString levelText(experiment::ProbeLevel level) {
  switch (level) {
    case experiment::ProbeLevel::Close:
      return tr("safe");
    case experiment::ProbeLevel::Between:
      return tr("unclear");
    case experiment::ProbeLevel::Far:
      return tr("not safe");
  }
  return {};
}

PaintedCell number(const QString& text, double raw, const QString& help = {}) {
  return {.text = text, .ink = Role::TextSecond, .mono = true, .isRight = true, .help = help, .raw = raw};
}

void fillRow(std::vector<PaintedCell>& cells, const ProbeRow& row) {
  if (row.questions == 0) {
    for (int i = 0; i < 5; ++i) cells.push_back(number(QStringLiteral("–"), -1, cells.front().help));
    return;
  }
  cells.push_back(number(natsText(row.meanDivergence), row.meanDivergence,
                         tr("Questions: smallest %1, median %2, largest %3. Largest of a single token: %4")
                             .arg(natsText(row.divergence.least()), natsText(row.divergence.median),
                                  natsText(row.divergence.most()), natsText(row.mostDivergence))));
  cells.back().ink = Role::Text;
  cells.push_back(number(shareText(row.agreeing, row.tokens), row.agreement(),
                         metricPart("agreeing-tokens", QString::number(row.agreeing), "compared-tokens",
                                    QString::number(row.tokens))));
  cells.push_back(
      number(tr("%1 of %2").arg(row.sameAnswers).arg(row.questions), static_cast<double>(row.sameAnswers)));
  const double again = row.computed + row.recomputed;
  cells.push_back(number(
      row.recomputed > 0 ? tr("%1 + %2").arg(row.computed, 0, 'f', 0).arg(row.recomputed, 0, 'f', 0)
                         : QString::number(row.computed, 'f', 0),
      again, tr("Mean of all prompts. On average, a prompt has %1 tokens").arg(row.promptTokens, 0, 'f', 0)));
  cells.push_back(number(durationText(row.seconds.median), row.seconds.median,
                         tr("Median. Shortest: %1. Longest: %2")
                             .arg(durationText(row.seconds.least()), durationText(row.seconds.most()))));
}

PaintedTable tableOf(const jobs::Probe& probe) {
  PaintedTable table{
      .headers = {tr("Policy"), metricShortHeading("divergence"), metricShortTitle("agreeing-tokens"),
                  metricShortTitle("same-answers"), metricShortTitle("computed-tokens"),
                  metricShortTitle("time-to-first-token"), tr("Verdict")},
      .shares = {5, 4, 4, 5, 5, 4, 4},
      .rows = {},
      .headerHelps = {QString(), tr("Mean of all questions. %1").arg(metricMeaning("divergence")),
                      metricMeaning("agreeing-tokens"),
                      tr("Answers that have the same tokens as the greedy answer of a full prefill."),
                      tr("Mean of all prompts. The documents were cached before. The number after + counts "
                         "recomputed tokens. %1")
                          .arg(metricMeaning("computed-tokens")),
                      metricExplanation("time-to-first-token"),
                      QString::fromStdString(experiment::probeRules())}};
  const std::vector<ProbeRow> bundled = probe.bundledRows();
  if (!bundled.empty()) {
    table.headers.push_back(tr("Bundled"));
    table.shares.push_back(4);
    table.headerHelps.push_back(tr("Result of the bundled model. %1").arg(metricMeaning("divergence")));
  }
  const std::string recommended = probe.recommended();
  std::size_t index = 0;
  for (const ProbeRow& row : probe.rows()) {
    std::vector<PaintedCell>& cells = table.rows.emplace_back();
    const auto choice = policy::findChoice(row.policy);
    cells.push_back({.text = QString::fromStdString(row.policy),
                     .bold = row.policy == recommended,
                     .help = !row.problem.empty() ? QString::fromStdString(row.problem)
                             : choice             ? policyWord(choice->policy().help)
                                                  : QString()});
    fillRow(cells, row);
    const bool isKnown = row.questions > 0;
    cells.push_back(
        {.text = isKnown ? levelText(row.level()) : QStringLiteral("–"),
         .ink = isKnown && row.level() == experiment::ProbeLevel::Far ? Role::Error : Role::Text});
    if (index < bundled.size())
      cells.push_back(bundled[index].questions == 0
                          ? number(QStringLiteral("–"), -1)
                          : number(natsText(bundled[index].meanDivergence), bundled[index].meanDivergence));
    ++index;
  }
  return table;
}

}  // namespace

ProbeModel probeModel(const ViewInput& input) {
  ProbeModel model;
  const MeasuredJob* job = findMeasured(input.measured, jobs::ProbeJob::kId);
  if (job == nullptr) return model;
  const jobs::Probe& probe = *measured<jobs::ProbeJob>(input.measured);
  model.isKnown = true;
  model.isRunning = job->isRunning();
  model.progress = job->state == workbench::JobState::Finished ? 1 : probe.progress();
  if (model.isRunning)
    model.doing = withTimeLeft(job->secondsLeft, eventText(jobs::ProbeJob::activity(probe)));
  QStringList setup;
  for (const std::string& part : {probe.model.name, probe.model.device}) {
    if (!part.empty()) setup += QString::fromStdString(part);
  }
  model.setup = setup.join(tr(" · "));
  if (probe.model.samples() > 0) {
    model.table = tableOf(probe);
    model.chart = probe.chart();
  }
  const std::vector<std::string> sentences = probe.sentences();
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const QString sentence = QString::fromStdString(sentences[i]);
    if (i == 0)
      model.verdict = sentence;
    else
      model.remarks += sentence;
  }
  if (!sentences.empty()) model.remarks += QString::fromStdString(experiment::probeRules());
  const workbench::RunSettings& settings = input.document->settings;
  const bool isOfModel = probe.choice.model == settings.model && probe.choice.adapter == settings.adapter;
  if (!isOfModel) model.warnings += tr("Measured on another model or adapter. Probe again.");
  if (!job->problem.isEmpty()) model.warnings += tr("The probe stopped: %1").arg(job->problem);
  if (job->state == workbench::JobState::Stopped)
    model.remarks.prepend(tr("The probe was stopped. Finished measurements are kept."));
  const std::string recommended = probe.recommended();
  if (!model.isRunning && isOfModel && !recommended.empty() && recommended != settings.policy)
    model.offered = QString::fromStdString(recommended);
  return model;
}

QString probeCsv(const jobs::Probe& probe) {
  constexpr double kMilliseconds = 1000;
  QString text = csvLine({tr("model"), tr("policy"), tr("questions"), metricHeading("divergence"), tr("min"),
                          tr("max"), metricHeading("compared-tokens"), metricHeading("agreeing-tokens"),
                          metricHeading("same-answers"), metricHeading("prompt-tokens"),
                          metricHeading("computed-tokens"), metricHeading("tokens-computed-again"),
                          metricHeading("time-to-first-token"), tr("problem")});
  const auto add = [&text](const experiment::ProbedModel& model, const std::vector<ProbeRow>& rows) {
    for (const ProbeRow& row : rows) {
      const auto cell = [&row](double value) { return row.questions == 0 ? QString() : csvNumber(value); };
      text += csvLine({QString::fromStdString(model.name), QString::fromStdString(row.policy),
                       QString::number(row.questions), cell(row.meanDivergence), cell(row.divergence.least()),
                       cell(row.divergence.most()), QString::number(row.tokens),
                       QString::number(row.agreeing), QString::number(row.sameAnswers),
                       cell(row.promptTokens), cell(row.computed), cell(row.recomputed),
                       cell(row.seconds.median * kMilliseconds), QString::fromStdString(row.problem)});
    }
  };
  add(probe.model, probe.rows());
  if (probe.bundled) add(*probe.bundled, probe.bundledRows());
  return text;
}

ProbeView::ProbeView(QWidget* parent)
    : MeasurePage(InputPart::Document | InputPart::Measured, tr("Probe"), parent),
      m_own(new QCheckBox(tr("With my documents"), this)),
      m_use(new QPushButton(this)) {
  setCopyHelp(tr("Copy the verdict and the table as text"));
  m_use->hide();
  connect(m_use, &QPushButton::clicked, this, &ProbeView::usePolicy);
  connect(m_own, &QCheckBox::toggled, this, [this] {
    if (input() != nullptr) refresh();
  });
  m_asking.setSingleShot(true);
  m_asking.setInterval(kPause);
  connect(&m_asking, &QTimer::timeout, this, [this] {
    if (input() != nullptr && isVisible() && !m_model.isRunning)
      Q_EMIT estimateWanted(jobs::callOf<jobs::ProbeJob>({.asksOwn = asksOwn()}));
  });
  layOut({runButton(), m_use, m_own}, makeResults());
}

QString ProbeView::introduction() const {
  return tr(
      "Measure whether block attention is safe on this model. The probe asks questions over built-in "
      "documents, and compares each reuse policy with the model's own full prefill. Then the probe "
      "recommends a policy.");
}

QWidget* ProbeView::makeResults() {
  auto* results = new QWidget;
  QVBoxLayout* texts = makeTexts(tr("Results by policy"), results);
  m_verdict = new QLabel(results);
  m_verdict->setTextFormat(Qt::PlainText);
  m_verdict->setWordWrap(true);
  m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse);
  texts->insertWidget(0, m_verdict);
  m_chart = new HeatMapChart(results);
  texts->addWidget(m_chart);
  texts->addStretch(1);
  texts->setContentsMargins(0, 0, 0, kGap);
  results->setLayout(texts);
  return results;
}

QString ProbeView::command() const {
  return asksOwn() ? QStringLiteral("run.probe:own") : QStringLiteral("run.probe:run");
}

bool ProbeView::asksOwn() const {
  return m_own->isEnabled() && m_own->isChecked();
}

QString ProbeView::estimate() {
  const jobs::JobCall call = jobs::callOf<jobs::ProbeJob>({.asksOwn = asksOwn()});
  if (const AskedEstimate* known = findEstimate(input()->measured, call)) return estimateText(*known);
  m_asking.start();
  return {};
}

void ProbeView::refresh() {
  if (m_checked != input()->document) {
    m_checked = input()->document;
    QString problem;
    try {
      const document::QueryOf taken = m_checked->root() == document::kNoNode
                                          ? document::QueryOf()
                                          : document::toQuery(*m_checked, document::TakeOut::MutedAndFrozen);
      if (taken.query)
        experiment::countDocuments(*taken.query);
      else
        problem = tr("The query is empty or incomplete.");
    } catch (const Failure& failure) {
      problem = QString::fromUtf8(failure.what());
    }
    m_own->setToolTip(problem.isEmpty() ? tr("Also ask the question of this query over its documents")
                                        : problem);
    m_own->setProperty("fits", problem.isEmpty());
  }
  m_model = ui::probeModel(*input());
  m_own->setEnabled(!m_model.isRunning && m_own->property("fits").toBool());
  m_use->setVisible(!m_model.offered.isEmpty() && ProbeView::model() != nullptr);
  m_use->setText(tr("Use %1").arg(m_model.offered));
  m_use->setToolTip(tr("Set the recommended policy for this query. You can undo this"));
  m_verdict->setText(m_model.verdict);
  m_verdict->setVisible(!m_model.verdict.isEmpty());
  QFont bold = theme().interfaceFont();
  bold.setWeight(QFont::DemiBold);
  m_verdict->setFont(bold);
  colorLabel(*m_verdict, theme(), Role::Text);
  const bool hasRows = !m_model.table.rows.empty();
  m_chart->setVisible(hasRows);
  if (hasRows) m_chart->setContent(m_model.chart, QString::fromStdString(m_model.chart.texts.title), theme());
  showMeasured(
      {.isKnown = m_model.isKnown,
       .isRunning = m_model.isRunning,
       .progress = m_model.progress,
       .doing = m_model.isRunning ? m_model.doing : estimate(),
       .setup = m_model.setup,
       .warnings = m_model.warnings,
       .remarks = m_model.remarks,
       .table = m_model.table,
       .run = tr("Probe this model"),
       .runHelp = m_model.isRunning
                      ? tr("Stop the probe and keep finished measurements")
                      : tr("Ask the questions under each policy. Other runs can start between two steps")});
}

void ProbeView::usePolicy() {
  if (ProbeView::model() == nullptr || m_model.offered.isEmpty()) return;
  const std::string policy = m_model.offered.toStdString();
  ProbeView::model()->change(tr("Policy %1").arg(m_model.offered),
                             [&policy](document::Document& document) { document.settings.policy = policy; });
}

QString ProbeView::text() const {
  QString text =
      m_model.verdict + QLatin1Char('\n') + m_model.setup + QLatin1Char('\n') + tabbedText(m_model.table);
  for (const QString& line : m_model.warnings + m_model.remarks) text += line + QLatin1Char('\n');
  return text;
}

QString ProbeView::csv() const {
  if (input() == nullptr) return {};
  const auto probe = measured<jobs::ProbeJob>(input()->measured);
  return !probe || probe->model.samples() == 0 ? QString() : probeCsv(*probe);
}

void ProbeView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  if (m_model.table.rows.empty()) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(), theme());
    return;
  }
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  for (const QString& line : {m_model.verdict, m_model.setup}) write(painter, line, width, size.height(), y);
  const int tableHeight = paintedTableHeight(m_model.table, theme(), width);
  paintTable(painter, QRect(kGap, y, width, tableHeight + 1), m_model.table, theme());
  y += tableHeight + kGap;
  for (const QString& line : m_model.warnings + m_model.remarks)
    write(painter, line, width, size.height(), y);
  const int left = size.height() - y - kGap;
  if (left >= m_chart->heightFor(width))
    m_chart->paint(painter, QRect(kGap, y, width, std::min(left, m_chart->heightFor(width) * 3 / 2)));
}

ViewInfo probeRow() {
  return {.id = QStringLiteral("probe"),
          .title = tr("Probe"),
          .help = tr("Whether block attention is safe on this model, and the recommended policy"),
          .make = makeViewOf<ProbeView>,
          .places = {{LayoutId::Measure, Room::Low, Room::Large, 0, 0, 5, 0}}};
}

}  // namespace spanscope::ui

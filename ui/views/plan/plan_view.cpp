// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/plan/plan_view.h"

#include "ui/session/run_list.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/table_view.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/plan/pass_view.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedLayout>
#include <QStringList>

#include <algorithm>
#include <map>

namespace spanscope::ui {

namespace {

constexpr int kRow = 26;

Role inkOf(StepState state) {
  switch (state) {
    case StepState::Computing:
      return Role::ComputedInk;
    case StepState::Decoding:
      return Role::HitInk;
    case StepState::Failed:
      return Role::Error;
    case StepState::Finished:
      return Role::TextSecond;
    case StepState::Planned:
    case StepState::Waiting:
    case StepState::Stopped:
      break;
  }
  return Role::TextThird;
}

/// The steps as a table, with the glossary's explanations of the headers.
PaintedTable stepsTable(const PlanModel& model) {
  PaintedTable table{.headers = {PlanView::tr("Step"), PlanView::tr("Name"), PlanView::tr("Needs"),
                                 PlanView::tr("State"), metricShortTitle("prompt-tokens"),
                                 metricShortTitle("cached-tokens"), metricShortTitle("generated-tokens")},
                     .shares = {1, 4, 3, 2, 2, 2, 2},
                     .rows = {}};
  for (const char* term : {"step", "", "", "", "prompt", "cached"})
    table.headerHelps.push_back(*term == '\0' ? QString() : explain(QString::fromLatin1(term)));
  for (const PlanStep& step : model.steps) {
    const QString tip =
        step.node.empty() ? PlanView::tr("the root of the query") : QString::fromStdString(step.node);
    const auto words = [&tip](const QString& text, Role ink) {
      return PaintedCell{.text = text, .ink = ink, .help = tip};
    };
    const auto count = [&tip](std::int64_t number, bool isKnown = true) {
      return PaintedCell{.text = isKnown ? QString::number(number) : QString(),
                         .ink = Role::TextSecond,
                         .mono = true,
                         .isRight = true,
                         .help = tip};
    };
    const bool started = step.request != 0;
    table.rows.push_back(
        {count(step.step), words(step.name, Role::Text), words(needsText(step.needs), Role::TextSecond),
         words(stepStateText(step.state), inkOf(step.state)), count(step.promptTokens, started),
         count(step.cachedTokens, started), count(step.generatedTokens, started)});
  }
  return table;
}

QString whatWillStandHere() {
  return PlanView::tr("Run a query to see the steps of its plan, and which steps each step needs.");
}

}  // namespace

PlanView::PlanView(QWidget* parent)
    : RunView(parent, InputPart::Prediction),
      m_stack(new QStackedLayout(this)),
      m_nothing(new QWidget(this)),
      m_passes(new PassView(this)),
      m_splitter(new QSplitter(Qt::Vertical, this)),
      m_table(new TableView(tr("Steps"), RowOrder::Fixed, m_splitter)),
      m_steps(new PaintedTableModel(m_table)),
      m_text(new QPlainTextEdit(m_splitter)) {
  setAccessibleName(tr("Plan"));
  m_steps->setTable(stepsTable({}));
  m_table->setModel(m_steps);
  m_table->setRowHeight(kRow);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->horizontalHeader()->setStretchLastSection(false);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
  m_text->setAccessibleName(tr("Result of the planner"));
  m_text->setReadOnly(true);
  m_text->setFrameShape(QFrame::NoFrame);
  m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
  m_text->setTabChangesFocus(true);
  m_splitter->setStretchFactor(0, 1);
  m_splitter->setStretchFactor(1, 2);
  m_splitter->setChildrenCollapsible(false);
  m_nothing->setAttribute(Qt::WA_TransparentForMouseEvents);
  m_stack->setContentsMargins(0, 0, 0, 0);
  for (QWidget* page : {m_nothing, static_cast<QWidget*>(m_passes), static_cast<QWidget*>(m_splitter)})
    m_stack->addWidget(page);
  connect(m_passes, &PassView::nodeWanted, this, [this](document::NodeId node) {
    Selection selection = input()->selection;
    selection.nodes = {node};
    Q_EMIT selectionWanted(selection);
  });
  QHBoxLayout* row = titleRow();
  m_pages = new QComboBox(row->parentWidget());
  m_pages->setAccessibleName(tr("Page of the plan"));
  m_pages->setToolTip(tr("Rules show how the planner rewrites the current query. Steps show a run."));
  m_pages->addItem(tr("rules"));
  m_pages->addItem(tr("steps"));
  row->addWidget(m_pages);
  connect(m_pages, &QComboBox::currentIndexChanged, this,
          [this](int index) { setPage(index == 0 ? Page::Rules : Page::Steps); });
  connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& index) { select(index.row()); });
  connect(m_table, &TableView::rowActivated, this, &PlanView::select);
}

bool PlanView::hasRules() const {
  return input() != nullptr && input()->prediction.newest && input()->prediction.newest->plan;
}

PlanView::Page PlanView::page() const {
  if (m_page == Page::Rules) return hasRules() || m_model.run == 0 ? Page::Rules : Page::Steps;
  return m_model.run != 0 || !hasRules() ? Page::Steps : Page::Rules;
}

void PlanView::setPage(Page page) {
  if (page == m_page) return;
  m_page = page;
  if (m_pages) m_pages->setCurrentIndex(page == Page::Rules ? 0 : 1);
  if (input() != nullptr) refresh();
}

QString PlanView::emptyText() const {
  return (m_model.run != 0 || hasRules()) ? QString() : whatWillStandHere();
}

void PlanView::refresh() {
  refreshSteps();
  m_passes->show(input()->prediction.newest, input()->selection.currentNode(), input()->theme);
  const bool isEmpty = m_model.run == 0 && !hasRules();
  m_stack->setCurrentWidget(isEmpty                 ? m_nothing
                            : page() == Page::Rules ? static_cast<QWidget*>(m_passes)
                                                    : static_cast<QWidget*>(m_splitter));
  summarize();
}

void PlanView::summarize() {
  QString summary;
  if (page() == Page::Steps && m_model.run != 0) {
    summary = tr("run %1 · %2").arg(m_model.run).arg(m_model.policy);
  } else if (hasRules()) {
    const std::size_t count = input()->prediction.newest->plan->passes.size();
    summary = count == 1 ? tr("1 rule applies") : tr("%1 rules apply").arg(count);
    // Servers get steps as they are written.
    if (!namedServers(*input()->document).empty()) summary = tr("%1 in the embedded engine").arg(summary);
  }
  if (summary == m_summary) return;
  m_summary = summary;
  Q_EMIT summaryChanged(summary);
}

void PlanView::refreshSteps() {
  PlanModel model = planModel(*input());
  const bool same = model == m_model && m_shown == input()->theme;
  m_model = std::move(model);
  if (!same) {
    m_table->setTheme(theme());
    m_shown = input()->theme;
    fill();
    update();
  }
  for (std::size_t i = 0; i < m_model.steps.size(); ++i) {
    const RequestId request = m_model.steps[i].request;
    if (request == 0 || input()->selection.request != request) continue;
    m_table->showRow(static_cast<int>(i));
  }
}

void PlanView::fill() {
  const Theme now = theme();
  m_steps->setTable(stepsTable(m_model));
  m_text->setFont(now.monoFont());
  QPalette palette = m_text->palette();
  palette.setColor(QPalette::Base, now.color(Role::Canvas));
  palette.setColor(QPalette::Text, now.color(Role::Text));
  m_text->setPalette(palette);
  if (m_text->toPlainText() != m_model.explain) m_text->setPlainText(m_model.explain);
}

void PlanView::select(int row) {
  if (input() == nullptr || row < 0 || static_cast<std::size_t>(row) >= m_model.steps.size()) return;
  const PlanStep& step = m_model.steps[static_cast<std::size_t>(row)];
  Selection selection = selectionOf(m_model.run, step.request, step.node);
  if (step.request == 0) selection.request = input()->selection.request;
  Q_EMIT selectionWanted(selection);
}

QString PlanView::csv() const {
  if (input() == nullptr) return {};
  if (page() == Page::Rules && hasRules()) return passesCsv(*input()->prediction.newest->plan);
  const PlanModel model = planModel(*input());
  return model.run == 0 ? QString() : planCsv(model);
}

void PlanView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) m_model = planModel(*input());
  if (page() == Page::Rules && hasRules()) {
    refresh();
    RunView::paintTo(painter, size);
    return;
  }
  if (m_model.run == 0) {
    painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
    paintEmptyText(painter, QRect(QPoint(), size), whatWillStandHere(), theme());
    return;
  }
  PaintedTable table = stepsTable(m_model);
  for (std::vector<PaintedCell>& row : table.rows) {
    for (PaintedCell& cell : row) {
      cell.isRight = false;
      if (&cell != &row[3]) cell.ink = Role::Text;
    }
  }
  const Theme now = theme();
  painter.fillRect(QRect(QPoint(), size), now.color(Role::Surface));
  const QFontMetrics metrics(now.monoFont());
  constexpr int kLeastWidth = 640;
  int width = std::max(kLeastWidth, size.width());
  const int steps = paintedTableHeight(table, now, width);
  const int text =
      metrics.boundingRect(QRect(0, 0, width - 4 * kSpace, 1 << 20), Qt::TextWordWrap, m_model.explain)
          .height();
  const int height = steps + text + 6 * kSpace;
  const double scale = std::min({1.0, 1.0 * size.width() / width, 1.0 * size.height() / height});
  painter.save();
  painter.scale(scale, scale);
  width = static_cast<int>(size.width() / scale);
  paintTable(painter, QRect(0, 0, width, steps + 1), table, now);
  painter.setFont(now.monoFont());
  painter.setPen(now.color(Role::Text));
  painter.drawText(QRect(2 * kSpace, steps + 3 * kSpace, width - 4 * kSpace, text + kSpace), Qt::TextWordWrap,
                   m_model.explain);
  painter.restore();
}

ViewInfo planRow() {
  return {
      .id = QStringLiteral("plan"),
      .title = tr("Plan"),
      .help = tr(
          "The steps of a query, the dependencies between steps, and the rewrite rules that made the steps"),
      .make = makeViewOf<PlanView>,
      .places = {{LayoutId::Explain, Room::Low, Room::Low, 0, 1, 4, 0},
                 {LayoutId::Explain, Room::Middle, Room::Large, 0, 2, 3, 0}}};
}

namespace {

StepState stateOf(const trace::RequestState& request) {
  if (request.outcome) {
    switch (*request.outcome) {
      case trace::StepOutcome::EndToken:
      case trace::StepOutcome::TokenLimit:
      case trace::StepOutcome::ContextLimit:
        return StepState::Finished;
      case trace::StepOutcome::Stopped:
        return StepState::Stopped;
      case trace::StepOutcome::Failed:
        return StepState::Failed;
    }
  }
  if (request.generatedTokens > 0) return StepState::Decoding;
  return request.phase == trace::RequestPhase::Running ? StepState::Computing : StepState::Waiting;
}

}  // namespace

PlanModel planModel(const ViewInput& input) {
  PlanModel model;
  const trace::Progress& progress = input.state().progress();
  auto shown = progress.runs.end();
  for (auto run = progress.runs.begin(); run != progress.runs.end(); ++run) {
    if (run->second.plan->steps.empty() && run->second.plan->explain.empty()) continue;
    if (isOfOther(input, run->first)) continue;
    // Takes the document's newest run, or the newest of a trace from elsewhere.
    const bool isOwn = input.paths.contains(run->first);
    if (shown == progress.runs.end() || isOwn || !input.paths.contains(shown->first)) shown = run;
  }
  if (input.selection.request) {
    const auto request = progress.requests.find(*input.selection.request);
    if (request != progress.requests.end()) {
      const auto run = progress.runs.find(request->second.run);
      if (run != progress.runs.end() && !run->second.plan->steps.empty()) shown = run;
    }
  }
  if (shown == progress.runs.end()) return model;

  const auto& [id, run] = *shown;
  StepNames names(input, progress);
  std::map<StepIndex, RequestId> byStep;
  for (const RequestId requestId : run.requests) {
    const auto found = progress.requests.find(requestId);
    if (found != progress.requests.end()) byStep[found->second.step] = requestId;
  }
  model.run = id;
  model.policy = QString::fromStdString(run.policy);
  model.explain = QString::fromStdString(run.plan->explain);
  for (const trace::PlannedStep& planned : run.plan->steps) {
    PlanStep step{.step = planned.step,
                  .node = planned.node,
                  .name = names.of(id, planned.step),
                  .ply = planned.ply,
                  .needs = planned.needs};
    if (const auto found = byStep.find(planned.step); found != byStep.end()) {
      const trace::RequestState& request = progress.requests.at(found->second);
      step.request = found->second;
      step.state = stateOf(request);
      const TokenAccount prompt = RequestAccount(input, found->second).prompt();
      step.promptTokens = prompt.total();
      step.cachedTokens = prompt.cached();
      step.generatedTokens = request.generatedTokens;
    }
    if (step.request == 0 && run.outcome) step.state = StepState::Stopped;
    model.steps.push_back(std::move(step));
  }
  return model;
}

QString stepStateText(StepState state) {
  switch (state) {
    case StepState::Planned:
      return tr("planned");
    case StepState::Waiting:
      return tr("waiting");
    case StepState::Computing:
      return tr("computing");
    case StepState::Decoding:
      return tr("decoding");
    case StepState::Finished:
      return tr("finished");
    case StepState::Stopped:
      return tr("stopped");
    case StepState::Failed:
      return tr("failed");
  }
  return {};
}

QString needsText(const std::vector<StepIndex>& needs) {
  if (needs.empty()) return tr("nothing");
  QStringList numbers;
  for (const StepIndex need : needs) numbers.push_back(QString::number(need));
  return numbers.join(QStringLiteral(", "));
}

QString planCsv(const PlanModel& model) {
  QString text = csvLine({tr("step"), tr("name"), tr("node"), tr("level"), tr("needs"), tr("state"),
                          metricHeading("prompt-tokens"), metricHeading("cached-tokens"),
                          metricHeading("generated-tokens")});
  for (const PlanStep& step : model.steps) {
    text += csvLine({QString::number(step.step), step.name, QString::fromStdString(step.node),
                     QString::number(step.ply), needsText(step.needs), stepStateText(step.state),
                     QString::number(step.promptTokens), QString::number(step.cachedTokens),
                     QString::number(step.generatedTokens)});
  }
  return text;
}

QString passesCsv(const plan::Plan& plan) {
  QString text = csvLine(
      {tr("pass"), tr("rule"), tr("keeps the meaning"), tr("node"), tr("before"), tr("after"), tr("why")});
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const plan::PassReport& pass = plan.passes[i];
    for (std::size_t change = 0; change < pass.changeCount; ++change) {
      const plan::RuleReport& report = plan.rules[pass.firstChange + change];
      text += csvLine({QString::number(i + 1), QString::fromStdString(pass.rule),
                       pass.keepsMeaning ? tr("yes") : tr("no"), QString::fromStdString(report.node),
                       QString::fromStdString(report.before), QString::fromStdString(report.after),
                       QString::fromStdString(pass.reason)});
    }
  }
  return text;
}

}  // namespace spanscope::ui

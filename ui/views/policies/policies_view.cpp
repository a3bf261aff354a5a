// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policies_view.h"

#include "ui/session/measure_estimate.h"
#include "ui/views/common/empty_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/policies/policy_answers.h"
#include "ui/views/policies/policy_menu.h"
#include "ui/words/tr.h"

#include <QLabel>
#include <QPainter>
#include <QTableWidget>
#include <QTextDocument>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kGap = 2 * kSpace;
}  // namespace

PoliciesView::PoliciesView(QWidget* parent)
    : MeasurePage(InputPart::Document | InputPart::Policies | InputPart::Forecast, tr("Policies"), parent) {
  setCopyHelp(tr("Copy the table and the answers as text"));
  m_choice = new PolicyMenu(this);
  connect(m_choice, &PolicyMenu::chosen, this, [this](const QStringList& names) {
    Q_EMIT commandWanted(QStringLiteral("run.policies:") + policyWish({.starts = false, .names = names}));
  });
  QVBoxLayout* page = layOut({runButton(), m_choice}, makeResults());
  m_token = new QLabel(this);
  m_token->setObjectName(QStringLiteral("token"));
  m_token->setTextFormat(Qt::PlainText);
  m_token->setWordWrap(true);
  m_token->setContentsMargins(0, 0, 0, kSpace);
  m_token->hide();
  page->addWidget(m_token);
  page->addStretch();
  connect(m_answers, &PolicyAnswers::tokenReached, this, [this](const QString& help) {
    m_token->setText(QString(help).replace(QLatin1Char('\n'), tr(" · ")));
    m_token->setVisible(!help.isEmpty() && m_answers->hasFocus());
  });
}

QString PoliciesView::introduction() const {
  return tr(
      "Runs this query under several reuse policies and holds each answer against a full prefill: which one "
      "is fast, which one is exact, and which words it costs.");
}

QWidget* PoliciesView::makeResults() {
  auto* results = new QWidget;
  QVBoxLayout* texts = makeTexts(tr("Figures by policy"), results);
  table().setTabKeyNavigation(false);
  m_answers = new PolicyAnswers(results);
  texts->addWidget(m_answers);
  texts->addStretch(1);
  texts->setContentsMargins(0, 0, 0, kGap);
  results->setLayout(texts);
  return results;
}

QString PoliciesView::command() const {
  return QStringLiteral("run.policies:") + policyWish({.starts = true, .names = {}});
}

void PoliciesView::refresh() {
  m_model = policiesModel(*input());
  Shown shown{
      .isKnown = m_model.isKnown,
      .isRunning = m_model.isRunning,
      .progress = m_model.progress,
      .doing = m_model.isRunning ? m_model.doing : comparisonEstimate(*input()),
      .setup = m_model.setup,
      .warnings = m_model.warnings,
      .remarks = m_model.remarks,
      .columns = m_model.columns,
      .rows = {},
      .run = tr("Compare policies"),
      .runHelp = m_model.isRunning
                     ? tr("What was measured stays")
                     : tr("Two runs and a full prefill for each; other runs pass between two of its steps")};
  for (const PolicyRow& row : m_model.rows) {
    FigureRow& figures = shown.rows.emplace_back();
    figures.name = row.name;
    figures.help = row.help;
    for (const PolicyCell& cell : row.cells)
      figures.cells.push_back(
          {.text = cell.text, .help = cell.help, .isBold = cell.isBest, .isPale = !cell.isBest});
  }
  m_choice->setChosen(input()->document->settings.policy, input()->policiesWanted);
  m_choice->setEnabled(!m_model.isRunning);
  m_token->setFont(theme().smallFont());
  colorLabel(*m_token, theme(), Role::TextSecond);
  m_answers->setVisible(!m_model.answers.empty());
  m_answers->setContent(m_model.answers, theme());
  showMeasured(shown);
}

QString PoliciesView::text() const {
  return policiesText(m_model);
}

QString PoliciesView::csv() const {
  if (input() == nullptr || !input()->policies) return {};
  return policiesModel(*input()).rows.empty() ? QString() : policiesCsv(*input()->policies);
}

PaintedTable PoliciesView::painted() const {
  PaintedTable table;
  for (std::size_t c = 0; c < m_model.columns.size(); ++c) {
    table.headers.push_back(m_model.columns[c].title);
    table.shares.push_back(c == 0 ? 4 : 3);
  }
  for (const PolicyRow& row : m_model.rows) {
    std::vector<PaintedCell> cells{{row.name, Role::Text, false}};
    for (const PolicyCell& cell : row.cells)
      cells.push_back({cell.text, cell.isBest ? Role::Text : Role::TextSecond, true});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void PoliciesView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  painter.fillRect(QRect(QPoint(), size), theme().color(Role::Surface));
  if (!m_model.isKnown) {
    paintEmptyText(painter, QRect(QPoint(), size), introduction(), theme());
    return;
  }
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  write(painter, m_model.setup, width, size.height(), y);
  if (!m_model.rows.empty()) {
    const PaintedTable table = painted();
    const int tableHeight = paintedTableHeight(table, theme(), width);
    paintTable(painter, QRect(kGap, y, width, tableHeight + 1), table, theme());
    y += tableHeight + kGap;
  }
  for (const QString& line : m_model.warnings + m_model.remarks)
    write(painter, line, width, size.height(), y);
  QTextDocument answers;
  answers.setDefaultFont(theme().interfaceFont());
  writeAnswers(answers, m_model.answers, theme());
  answers.setTextWidth(width);
  painter.save();
  painter.translate(kGap, y);
  answers.drawContents(&painter, QRectF(0, 0, width, size.height() - y));
  painter.restore();
}

ViewInfo policiesRow() {
  return {.id = QStringLiteral("policies"),
          .title = tr("Policies"),
          .help = tr("The query under several reuse policies: answers, times and fidelity"),
          .make = makeViewOf<PoliciesView>,
          .places = {{LayoutId::Measure, Room::Low, Room::Large, 0, 0, 2, 0}}};
}

}  // namespace spanscope::ui

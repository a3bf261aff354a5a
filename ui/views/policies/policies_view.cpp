// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/policies/policies_view.h"

#include "ui/views/common/empty_text.h"
#include "ui/views/common/measure_widgets.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/policies/policy_answers.h"
#include "ui/views/policies/policy_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QTableWidget>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kGap = 2 * kSpace;
constexpr int kTextLine = 20;

QString introduction() {
  return PoliciesView::tr(
      "Runs this query under several reuse policies and holds each answer against a full prefill: which one "
      "is fast, which one is exact, and which words it costs.");
}

}  // namespace

PoliciesView::PoliciesView(QWidget* parent)
    : InputView(InputPart::Document | InputPart::Policies, Pace::MayWait, parent) {
  setAccessibleName(tr("Policies"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(kGap, kGap, kGap, 0);
  layout->setSpacing(kGap);
  layout->addWidget(makeControls());
  m_progress = makeMeasureProgress(this);
  layout->addWidget(m_progress);
  m_scroll = makeResultScroll(makeResults(), this);
  layout->addWidget(m_scroll, 1);
  m_token = new QLabel(this);
  m_token->setObjectName(QStringLiteral("token"));
  m_token->setTextFormat(Qt::PlainText);
  m_token->setWordWrap(true);
  m_token->setContentsMargins(0, 0, 0, kSpace);
  layout->addWidget(m_token);
  layout->addStretch();
  m_token->hide();
  m_scroll->hide();
  connect(m_answers, &PolicyAnswers::tokenReached, this, [this](const QString& help) {
    m_token->setText(QString(help).replace(QLatin1Char('\n'), tr(" · ")));
    m_token->setVisible(!help.isEmpty() && m_answers->hasFocus());
  });
  setFocusProxy(m_run);
}

QWidget* PoliciesView::makeControls() {
  auto* controls = new QWidget(this);
  auto* row = new QHBoxLayout(controls);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kGap);
  m_run = new QPushButton(tr("Compare policies"), controls);
  m_choice = new PolicyMenu(controls);
  m_copy = new QToolButton(controls);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the table and the answers as text"));
  m_copy->setAutoRaise(true);
  m_copy->hide();
  m_doing = new QLabel(controls);
  m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(m_run);
  row->addWidget(m_choice);
  row->addWidget(m_doing, 1);
  row->addWidget(m_copy);
  connect(m_run, &QPushButton::clicked, this, &PoliciesView::runOrStop);
  connect(m_copy, &QToolButton::clicked, this, &PoliciesView::copy);
  connect(m_choice, &PolicyMenu::chosen, this, [this](const QStringList& names) {
    Q_EMIT commandWanted(QStringLiteral("run.policies:") + policyWish({.starts = false, .names = names}));
  });
  return controls;
}

QWidget* PoliciesView::makeResults() {
  auto* results = new QWidget;
  auto* column = new QVBoxLayout(results);
  column->setContentsMargins(0, 0, 0, kGap);
  column->setSpacing(kSpace);
  m_setup = new QLabel(results);
  m_setup->setWordWrap(true);
  m_setup->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_table = makeFigureTable(tr("Figures by policy"), results);
  m_table->setTabKeyNavigation(false);
  m_table->installEventFilter(this);
  m_remarks = new QLabel(results);
  m_remarks->setTextFormat(Qt::RichText);
  m_remarks->setWordWrap(true);
  m_remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_answers = new PolicyAnswers(results);
  column->addWidget(m_setup);
  column->addWidget(m_table);
  column->addWidget(m_remarks);
  column->addWidget(m_answers);
  column->addStretch(1);
  return results;
}

void PoliciesView::runOrStop() {
  Q_EMIT commandWanted(m_model.isRunning
                           ? QStringLiteral("run.stop")
                           : QStringLiteral("run.policies:") + policyWish({.starts = true, .names = {}}));
}

void PoliciesView::refresh() {
  m_model = policiesModel(*input());
  const bool isNewTheme = m_shown != input()->theme;
  m_shown = input()->theme;
  if (isNewTheme) {
    m_table->setStyleSheet(tableStyle(theme()));
    for (QLabel* label : {m_setup, m_remarks, m_doing, m_token}) {
      label->setFont(theme().smallFont());
      colorLabel(*label, theme(), Role::TextSecond);
    }
  }
  m_choice->setChosen(input()->document->settings.policy, input()->policiesWanted);
  m_choice->setEnabled(!m_model.isRunning);
  m_run->setText(m_model.isRunning ? tr("Stop") : tr("Compare policies"));
  m_run->setToolTip(m_model.isRunning
                        ? tr("What was measured stays")
                        : tr("Two runs and a full prefill for each; other runs wait until it has ended"));
  m_doing->setText(m_model.doing);
  m_progress->setVisible(m_model.isRunning);
  m_progress->setValue(static_cast<int>(m_model.progress * kProgressSteps));
  const bool hasRows = !m_model.rows.empty();
  m_copy->setVisible(hasRows);
  m_setup->setText(m_model.setup);
  m_scroll->setVisible(m_model.isKnown);
  m_table->setVisible(hasRows);
  m_remarks->setText(remarkText());
  m_remarks->setVisible(!m_remarks->text().isEmpty());
  m_answers->setVisible(!m_model.answers.empty());
  m_answers->setContent(m_model.answers, theme());
  if (hasRows) fillTable();
  update();
  Q_EMIT summaryChanged(m_model.isRunning ? tr("%1 %").arg(static_cast<int>(100 * m_model.progress))
                                          : QString());
}

void PoliciesView::fillTable() {
  const Theme now = theme();
  QFont best = now.monoFont();
  best.setWeight(QFont::Bold);
  const auto columns = static_cast<int>(m_model.columns.size());
  m_table->setColumnCount(columns);
  m_table->setRowCount(static_cast<int>(m_model.rows.size()));
  for (int c = 0; c < columns; ++c) {
    const PolicyColumn& column = m_model.columns[static_cast<std::size_t>(c)];
    auto* title = new QTableWidgetItem(column.title);
    title->setToolTip(column.help);
    title->setFont(now.smallFont());
    title->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_table->setHorizontalHeaderItem(c, title);
  }
  for (int r = 0; r < m_table->rowCount(); ++r) {
    const PolicyRow& row = m_model.rows[static_cast<std::size_t>(r)];
    auto* name = new QTableWidgetItem(row.name);
    name->setFont(now.interfaceFont());
    name->setForeground(now.color(Role::Text));
    name->setToolTip(row.help);
    m_table->setItem(r, 0, name);
    for (int c = 1; c < columns; ++c) {
      const PolicyCell& cell = row.cells[static_cast<std::size_t>(c) - 1];
      auto* item = new QTableWidgetItem(cell.text);
      item->setFont(cell.isBest ? best : now.monoFont());
      item->setForeground(now.color(cell.isBest ? Role::Text : Role::TextSecond));
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      item->setToolTip(cell.help.isEmpty() ? row.help : cell.help);
      m_table->setItem(r, c, item);
    }
  }
  fitFigureTable(*m_table);
}

QString PoliciesView::remarkText() const {
  QStringList lines;
  for (const QString& warning : m_model.warnings)
    lines += QStringLiteral("<span style='color:%1'>⚠ %2</span>")
                 .arg(theme().color(Role::ComputedInk).name(), warning.toHtmlEscaped());
  if (!m_model.remarks.empty()) lines += m_model.remarks.join(QLatin1Char(' ')).toHtmlEscaped();
  return lines.join(QStringLiteral("<br>"));
}

void PoliciesView::copy() const {
  QGuiApplication::clipboard()->setText(policiesText(m_model));
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
  painter.setFont(theme().interfaceFont());
  painter.setPen(theme().color(Role::TextSecond));
  const int width = size.width() - 2 * kGap;
  int y = kGap;
  const auto write = [&](const QString& text) {
    QRect place(kGap, y, width, size.height());
    painter.drawText(place, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text, &place);
    y = std::max(y + kTextLine, place.bottom() + kSpace);
  };
  write(m_model.setup);
  if (!m_model.rows.empty()) {
    const PaintedTable table = painted();
    const int tableHeight = paintedTableHeight(table, theme(), width);
    paintTable(painter, QRect(kGap, y, width, tableHeight + 1), table, theme());
    y += tableHeight + kGap;
    painter.setFont(theme().interfaceFont());
    painter.setPen(theme().color(Role::TextSecond));
  }
  for (const QString& line : m_model.warnings + m_model.remarks) write(line);
  QTextDocument answers;
  answers.setDefaultFont(theme().interfaceFont());
  writeAnswers(answers, m_model.answers, theme());
  answers.setTextWidth(width);
  painter.save();
  painter.translate(kGap, y);
  answers.drawContents(&painter, QRectF(0, 0, width, size.height() - y));
  painter.restore();
}

void PoliciesView::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  if (m_model.isKnown) return;
  QPainter painter(this);
  const int top = m_run->parentWidget()->geometry().bottom();
  paintEmptyText(painter, rect().adjusted(0, top, 0, 0), introduction(), theme());
}

bool PoliciesView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::Resize) fitFigureTable(*m_table);
  if (watched == m_table && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
    copy();
    return true;
  }
  return InputView::eventFilter(watched, event);
}

}  // namespace spanscope::ui

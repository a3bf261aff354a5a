// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diagnosis/log_strips_view.h"

#include "engine/doctor/causes.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/diagnosis/log_strips_area.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

LogStripsView::LogStripsView(QWidget* parent)
    : InputView(InputPart::Measured, Pace::MayWait, parent),
      m_area(new LogStripsArea(this)),
      m_explanation(new QLabel(this)),
      m_go(new QToolButton(this)) {
  setAccessibleName(tr("Prompts side by side"));
  m_explanation->setWordWrap(true);
  m_explanation->setTextFormat(Qt::PlainText);
  m_explanation->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_go->setText(tr("First difference"));
  m_go->setToolTip(tr("Scroll to the first difference (D)"));
  m_go->setAutoRaise(true);
  connect(m_go, &QToolButton::clicked, m_area, &LogStripsArea::goToDifference);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(2 * kSpace, kSpace, kSpace, 0);
  head->addWidget(m_explanation, 1);
  head->addWidget(m_go, 0, Qt::AlignTop);
  auto* page = new QVBoxLayout(this);
  page->setContentsMargins(0, 0, 0, 0);
  page->setSpacing(0);
  page->addLayout(head);
  page->addWidget(m_area, 1);
  setFocusProxy(m_area);
}

QWidget* LogStripsView::takeTitleControls() {
  if (!m_legend) {
    m_legend = new BlockLegend(
        {{{.role = BlockRole::Hit}, tr("reused"), tr("The server reuses these tokens")},
         {{.role = BlockRole::Computed}, tr("computed"), tr("The server computes these tokens")},
         {{.role = BlockRole::Relocated},
          tr("at another place"),
          tr("Both prompts have these tokens, at different places. With spans, a server can reuse these "
             "tokens"),
          tr("elsewhere")},
         {{.role = BlockRole::Free},
          tr("earlier prompt only"),
          tr("The selected prompt lacks these tokens"),
          tr("earlier")}});
    m_legend->setTheme(theme());
  }
  return m_legend;
}

QString LogStripsView::emptyText() const {
  if (!m_state->chosen)
    return tr(
        "Two prompts appear here, token by token. Select a request in Requests to compare its prompt with "
        "the earlier prompt that has the longest common prefix.");
  if (!m_state->comparisonProblem.isEmpty())
    return tr("The prompts cannot be compared: %1").arg(m_state->comparisonProblem);
  if (!m_state->other) return tr("The log has no earlier prompt to compare with this prompt.");
  return m_state->comparison == nullptr ? tr("Comparing the prompts…") : QString();
}

QString LogStripsView::explanation() const {
  if (!m_state->chosen) return {};
  const doctor::RequestReport& request = m_state->report->requests[*m_state->chosen];
  if (request.findings.empty()) return tr("This request lost no tokens.");
  const doctor::NamedFinding& first = request.findings.front();
  const doctor::Cause& cause = doctor::causeOf(first.finding.cause);
  QStringList texts{causeWord(cause.sentence)};
  const doctor::RequestRow row = doctor::rowOf(*m_state->report, request);
  if (row.change != "–") {
    QString section = QString::fromStdString(first.section);
    section[0] = section[0].toUpper();
    texts << tr("%1: %2.").arg(section, QString::fromStdString(row.change));
  }
  if (*cause.cure != '\0') texts << causeWord(cause.cure);
  if (m_state->isComplete())
    texts << tr("Lost: %1.")
                 .arg(QString::fromStdString(doctor::costText(request.lost, m_state->settings.prices)));
  return texts.join(QLatin1Char(' '));
}

void LogStripsView::refresh() {
  if (input() == nullptr) return;
  if (const auto state = measured<LogDiagnosisKind>(input()->measured); state != nullptr) m_state = state;
  if (m_legend) m_legend->setTheme(theme());
  const QString text = explanation();
  m_explanation->setText(text);
  m_explanation->setFont(theme().interfaceFont());
  colorLabel(*m_explanation, theme(), Role::Text);
  LogStrips strips;
  if (m_state->comparison != nullptr && m_state->chosen && m_state->other) {
    const doctor::LogReport& report = *m_state->report;
    const doctor::RequestReport& now = report.requests[*m_state->chosen];
    strips.comparison = m_state->comparison;
    strips.cached = now.cached;
    strips.block = report.block;
    strips.nowName = QString::fromStdString(doctor::rowOf(report, now).place);
    strips.beforeName = QString::fromStdString(doctor::rowOf(report, report.requests[*m_state->other]).place);
  }
  m_area->show(std::move(strips), theme());
  const bool isShown = emptyText().isEmpty();
  m_area->setVisible(isShown);
  m_go->setVisible(isShown);
  m_explanation->setVisible(!text.isEmpty() && m_state->chosen.has_value());
  update();
}

void LogStripsView::paintEvent(QPaintEvent* event) {
  InputView::paintEvent(event);
  QPainter painter(this);
  painter.fillRect(rect(), theme().color(Role::Surface));
  if (const QString text = emptyText(); !text.isEmpty()) paintEmptyText(painter, rect(), text, theme());
}

void LogStripsView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  if (const QString text = emptyText(); !text.isEmpty()) {
    paintEmptyText(painter, area, text, theme());
    return;
  }
  paintTextAtTop(painter, area, explanation(), theme(), Role::Text);
  if (!isVisible()) m_area->resize(area.size());
  painter.save();
  painter.setClipRect(area);
  painter.translate(area.topLeft());
  m_area->paintContent(painter, QRect(QPoint(), area.size()));
  painter.restore();
}

ViewInfo logStripsRow() {
  return {.id = QStringLiteral("log-strips"),
          .title = tr("Prompts"),
          .help = tr("The prompt of the selected request and the earlier prompt with the longest common "
                     "prefix, token by token"),
          .make = makeViewOf<LogStripsView>,
          .places = {{LayoutId::Diagnose, Room::Low, Room::Low, 0, 1, 0, 42},
                     {LayoutId::Diagnose, Room::Middle, Room::Large, 0, 1, 0, 45}}};
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/why/why_view.h"

#include "ui/views/common/block_painter.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {

/// The verdict on the fill of its state.
class VerdictChip : public QWidget {
 public:
  explicit VerdictChip(QWidget* parent) : QWidget(parent) { setFixedHeight(kHeight + 4 * kSpace); }

  void showVerdict(const QString& text, BlockRole role, const Theme& theme) {
    m_text = text;
    m_role = role;
    m_painter.setTheme(theme);
    setAccessibleName(text);
    update();
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    const Theme& theme = m_painter.theme();
    painter.fillRect(rect(), theme.color(Role::Surface));
    if (m_text.isEmpty()) return;
    painter.setRenderHint(QPainter::Antialiasing);
    QFont font = theme.interfaceFont();
    painter.setFont(font);
    const int width =
        std::min(QFontMetrics(font).horizontalAdvance(m_text) + 6 * kSpace, this->width() - 6 * kSpace);
    const QRectF pill(3 * kSpace, 3 * kSpace, width, kHeight);
    QPainterPath path;
    path.addRoundedRect(pill, kHeight / 2.0, kHeight / 2.0);
    painter.fillPath(path, m_role == BlockRole::Free ? theme.color(Role::Window) : theme.fill(m_role));
    painter.setPen(m_role == BlockRole::Free ? theme.color(Role::TextSecond) : theme.ink(m_role));
    painter.drawText(pill, Qt::AlignCenter, m_text);
  }

 private:
  static constexpr int kHeight = 24;
  QString m_text;
  BlockRole m_role = BlockRole::Free;
  BlockPainter m_painter;
};

WhyView::WhyView(QWidget* parent)
    : InputView(kRunParts | InputPart::WholeTrace, Pace::EveryInput, parent),
      m_chip(new VerdictChip(this)),
      m_text(new QTextBrowser(this)) {
  setAccessibleName(tr("Why"));
  setFocusProxy(m_text);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_chip);
  column->addWidget(m_text, 1);
  m_text->setFrameShape(QFrame::NoFrame);
  m_text->setOpenLinks(false);
  m_text->setAccessibleName(tr("Why the selected block was found or not"));
  m_text->document()->setDocumentMargin(2 * kSpace);
  connect(m_text, &QTextBrowser::anchorClicked, this, &WhyView::followUrl);
  m_chip->hide();
}

void WhyView::refresh() {
  m_history.follow(input()->trace);
  Why next = why(*input(), m_history, &m_changes);
  if (m_any && next == m_why && m_drawn == theme()) return;
  const bool other = next.block != m_why.block;
  m_why = std::move(next);
  m_drawn = theme();
  m_any = true;

  m_text->setStyleSheet(QStringLiteral("QTextBrowser { background: %1; color: %2; border: 1px solid %1; }"
                                       "QTextBrowser:focus { border-color: %3; }")
                            .arg(theme().color(Role::Surface).name(), theme().color(Role::Text).name(),
                                 theme().color(Role::Accent).name()));
  m_text->setFont(theme().interfaceFont());
  m_chip->setVisible(m_why.empty.isEmpty());
  m_chip->showVerdict(m_why.verdict, m_why.role, theme());
  const int scrolled = m_text->verticalScrollBar()->value();
  m_text->setHtml(html());
  // A live run refreshes the numbers of the same block: that must not scroll what is being read.
  m_text->verticalScrollBar()->setValue(other ? 0 : scrolled);
  setAccessibleDescription(whyText(m_why));
  if (m_summary == m_why.place) return;
  m_summary = m_why.place;
  Q_EMIT summaryChanged(m_summary);
}

QString WhyView::anchor(const WhyText& text) {
  QString html = text.text.toHtmlEscaped();
  if (!text.linkText.isEmpty()) {
    html += QStringLiteral("<a href=\"why:%1\" style=\"color:%2;text-decoration:none\">%3</a>")
                .arg(QString::number(m_links.size()), theme().color(Role::Accent).name(),
                     text.linkText.toHtmlEscaped());
    m_links.push_back(text.link);
  }
  return html + text.after.toHtmlEscaped();
}

QString WhyView::html() {
  m_links.clear();
  const auto colour = [this](Role role) { return theme().color(role).name(); };
  if (!m_why.empty.isEmpty()) {
    return QStringLiteral("<p style=\"color:%1\">%2</p>")
        .arg(colour(Role::TextThird), m_why.empty.toHtmlEscaped());
  }
  QString html = QStringLiteral("<p style=\"margin:4px\">%1</p>").arg(m_why.sentence);
  html +=
      QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"4\" style=\"margin-top:8px\">");
  for (const WhyFact& fact : m_why.facts) {
    const QString rule = QStringLiteral("border-bottom:1px solid %1").arg(colour(Role::Line));
    html += QStringLiteral("<tr><td width=\"104\" style=\"color:%1;font-size:12px;%3\">%2</td>")
                .arg(colour(Role::TextSecond), fact.label.toHtmlEscaped(), rule);
    html += QStringLiteral("<td style=\"font-size:12px;%2\">%1</td></tr>").arg(anchor(fact.value), rule);
  }
  html += QStringLiteral("</table>");
  if (m_why.otherwise.empty()) return html;
  html += QStringLiteral("<p style=\"margin:12px 4px 4px 4px;font-size:12px\"><b>%1</b></p>")
              .arg(m_why.otherwiseTitle.toHtmlEscaped());
  for (const WhyText& text : m_why.otherwise) {
    html += QStringLiteral("<p style=\"margin:0 4px 4px 4px;color:%1\">· %2</p>")
                .arg(colour(Role::TextSecond), anchor(text));
  }
  return html;
}

void WhyView::followUrl(const QUrl& url) {
  bool number = false;
  const std::size_t index = url.path().toULongLong(&number);
  if (number && index < m_links.size()) follow(WhyLink(m_links[index]));
}

void WhyView::follow(const WhyLink& link) {
  if (input() == nullptr) return;
  if (link.node != document::kNoNode) {
    Selection selection = input()->selection;
    selection.nodes = {link.node};
    Q_EMIT selectionWanted(selection);
  } else if (link.block) {
    Q_EMIT selectionWanted(selectionOfBlock(*input(), *link.block));
  }
  if (link.position) Q_EMIT positionWanted(*link.position);
  if (!link.command.isEmpty()) Q_EMIT commandWanted(link.command);
}

QString WhyView::csv() const {
  if (input() == nullptr) return {};
  BlockHistory history;
  history.follow(input()->trace);
  return whyCsv(why(*input(), history));
}

ViewInfo whyRow() {
  return {.id = QStringLiteral("why"),
          .title = tr("Why"),
          .help = tr("Why the selected block was found or not, and what would change that"),
          .make = makeViewOf<WhyView>,
          .needs = {Fact::BlockLookups},
          .places = {{LayoutId::Explain, Room::Low, Room::Middle, 1, 1, 1, 0},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 1, 0, 30}},
          .explainsBlocks = true};
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_browser.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextFrame>
#include <QTextList>
#include <QTextTable>

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kPictureWidth = 760;  // pixels; fits next to the contents in a window of default width
constexpr int kLeastZoom = -4;
constexpr int kMostZoom = 12;

QSize fitted(QSize size) {
  return size.width() > kPictureWidth ? size.scaled(kPictureWidth, size.height(), Qt::KeepAspectRatio) : size;
}

QImage drawing(const QString& path) {
  QSvgRenderer renderer(path);
  if (!renderer.isValid()) return {};
  QImage image(fitted(renderer.defaultSize()), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  renderer.render(&painter);
  return image;
}

}  // namespace

ManualBrowser::ManualBrowser(QString folder, QWidget* parent)
    : QTextBrowser(parent), m_folder(std::move(folder)) {
  setObjectName(QStringLiteral("bare"));
  setOpenLinks(false);
  setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::TextSelectableByKeyboard);
}

void ManualBrowser::setTheme(const Theme& theme) {
  if (theme == m_theme && !m_page.path.isEmpty()) return;
  m_theme = theme;
  const int place = verticalScrollBar()->value();
  render();
  verticalScrollBar()->setValue(place);
}

void ManualBrowser::showPage(const ManualPage& page) {
  m_page = page;
  render();
  setAccessibleName(page.title);
}

void ManualBrowser::render() {
  setMarkdown(m_page.lines.join(QLatin1Char('\n')));
  styleManual(*document(), m_theme, m_zoom);
  showHighlights();
  verticalScrollBar()->setValue(0);
  moveCursor(QTextCursor::Start);
}

void ManualBrowser::highlight(const QStringList& words) {
  m_words = words;
  showHighlights();
}

void ManualBrowser::showHighlights() {
  QList<QTextEdit::ExtraSelection> places;
  QTextCharFormat look;
  look.setBackground(m_theme.color(Role::AccentFill));
  for (const QString& word : m_words) {
    for (QTextCursor at = document()->find(word); !at.isNull(); at = document()->find(word, at))
      places.append({at, look});
  }
  setExtraSelections(places);
}

void ManualBrowser::goTo(const ManualHit& hit) {
  const QString wanted = hit.text.simplified();
  bool below = false;  // the heading of the hit is above
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    const QString text = block.text().simplified();
    below = below || hit.heading.isEmpty() || text == hit.heading.simplified();
    // A row of a table has one block for each cell.
    if (!below || text.isEmpty() || !wanted.contains(text)) continue;
    QTextCursor place;
    for (const QString& word : m_words) {
      const QTextCursor found = document()->find(word, block.position());
      if (!found.isNull() && found.block() == block && (place.isNull() || found < place)) place = found;
    }
    if (place.isNull()) continue;
    place.setPosition(place.selectionStart());
    setTextCursor(place);
    verticalScrollBar()->setValue(verticalScrollBar()->value() + cursorRect(place).top() - height() / 4);
    return;
  }
}

void ManualBrowser::zoom(int steps) {
  const int wanted = std::clamp(m_zoom + steps, kLeastZoom, kMostZoom);
  if (wanted == m_zoom) return;
  m_zoom = wanted;
  const double place = verticalScrollBar()->value() / std::max(1.0, document()->size().height());
  render();
  verticalScrollBar()->setValue(static_cast<int>(place * document()->size().height()));
}

QVariant ManualBrowser::loadResource(int type, const QUrl& name) {
  if (type != QTextDocument::ImageResource) return {};
  // Pictures are in the folder of the manual, or next to it in the resources.
  const QString path =
      m_folder + QLatin1Char('/') + resolvedManualPath(m_page.path, name.toString(QUrl::RemoveFragment));
  if (path.endsWith(QLatin1String(".svg"))) return drawing(path);
  const QImage image(path);
  if (image.isNull()) return {};
  return image.scaled(fitted(image.size()), Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

namespace {

constexpr int kTextSize = 14;  // pixels; larger than controls, because users read long texts
constexpr int kCodeSize = 11;  // pixels; lines as long as those of a terminal fit
constexpr int kInlineCodeSize = 12;
constexpr double kLineHeight = 140;  // percent
constexpr double kCodeLineHeight = 125;

struct HeadingLook {
  int size = kTextSize;
  double above = 0;
  double below = 0;
};

HeadingLook headingLook(int level) {
  constexpr std::array<HeadingLook, 3> kLooks{{{24, 4, 12}, {18, 24, 8}, {15, 18, 6}}};
  return kLooks[std::min<std::size_t>(static_cast<std::size_t>(level), kLooks.size()) - 1];
}

class Styler {
 public:
  Styler(QTextDocument& page, const Theme& theme, int larger)
      : m_page(page), m_theme(theme), m_larger(larger) {}

  void run() {
    QFont text = m_theme.interfaceFont();
    text.setPixelSize(kTextSize + m_larger);
    m_page.setDefaultFont(text);
    m_page.setDocumentMargin(6 * kSpace);
    QTextCursor(&m_page).beginEditBlock();
    for (QTextBlock block = m_page.begin(); block.isValid(); block = block.next()) styleBlock(block);
    styleTables(*m_page.rootFrame());
    frameCode();
    QTextCursor(&m_page).endEditBlock();
  }

 private:
  static bool isCode(const QTextBlock& block) {
    return block.blockFormat().hasProperty(QTextFormat::BlockCodeFence);
  }

  static bool holdsPicture(const QTextBlock& block) {
    for (auto at = block.begin(); !at.atEnd(); ++at) {
      if (at.fragment().charFormat().isImageFormat()) return true;
    }
    return false;
  }

  void styleBlock(const QTextBlock& block) {
    QTextCursor cursor(block);
    QTextBlockFormat format = block.blockFormat();
    const int level = format.headingLevel();
    if (isCode(block)) {
      styleCode(block);
      return;
    }
    // A picture counts as a letter, so a proportional line height would only add a gap.
    const bool isPicture = holdsPicture(block);
    if (!isPicture) format.setLineHeight(kLineHeight, QTextBlockFormat::ProportionalHeight);
    if (level > 0) {
      const HeadingLook look = headingLook(level);
      format.setTopMargin(block.blockNumber() == 0 ? 0 : look.above);
      format.setBottomMargin(look.below);
    } else if (cursor.currentTable() != nullptr) {
      format.setTopMargin(0);
      format.setBottomMargin(0);
    } else if (block.textList() != nullptr) {
      format.setTopMargin(2);
      format.setBottomMargin(block.next().textList() == nullptr ? 10 : 2);
    } else {
      format.setTopMargin(isPicture ? 4 : 0);
      format.setBottomMargin(isPicture ? 16 : 10);
    }
    cursor.setBlockFormat(format);
    styleFragments(block);
  }

  void styleCode(const QTextBlock& block) {
    QTextBlockFormat format = block.blockFormat();
    format.setTopMargin(0);
    format.setBottomMargin(0);
    format.setLineHeight(kCodeLineHeight, QTextBlockFormat::ProportionalHeight);
    format.setNonBreakableLines(true);
    QTextCursor cursor(block);
    cursor.setBlockFormat(format);
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    QTextCharFormat look;
    look.setFont(codeFont());
    look.setForeground(m_theme.color(Role::Text));
    cursor.setCharFormat(look);
    cursor.setBlockCharFormat(look);
  }

  QTextCharFormat headingFormat(const QTextBlock& block, int level) const {
    QTextCharFormat format;
    QFont font = m_theme.interfaceFont();
    font.setPixelSize(headingLook(level).size + m_larger);
    font.setWeight(QFont::DemiBold);
    format.setFont(font);
    format.setForeground(m_theme.color(Role::Text));
    format.setAnchor(true);
    format.setAnchorNames({headingAnchor(block.text())});
    return format;
  }

  /// Styles headings, links and code in running text.
  void styleFragments(const QTextBlock& block) {
    struct Piece {
      int start = 0;
      int end = 0;
      QTextCharFormat format;
    };
    const int level = block.blockFormat().headingLevel();
    std::vector<Piece> pieces;
    for (auto at = block.begin(); !at.atEnd(); ++at) {
      const QTextFragment fragment = at.fragment();
      QTextCharFormat format = fragment.charFormat();
      if (format.isImageFormat()) continue;
      const bool isCode = format.fontFixedPitch();
      const bool isLink = format.isAnchor() && !format.anchorHref().isEmpty();
      if (level > 0) {
        // Qt's size of headings depends on the default font, and would override the size of the theme.
        format.clearProperty(QTextFormat::FontSizeAdjustment);
        format.merge(headingFormat(block, level));
      }
      if (isCode) {
        QFont code = codeFont();
        code.setPixelSize((level > 0 ? headingLook(level).size - 1 : kInlineCodeSize) + m_larger);
        format.setFont(code);
        format.setBackground(m_theme.color(Role::Canvas));
      }
      if (isLink) {
        format.setForeground(m_theme.color(Role::Accent));
        format.setFontUnderline(true);
        format.setUnderlineColor(m_theme.color(Role::Outline));
      }
      if (level > 0 || isCode || isLink)
        pieces.push_back({fragment.position(), fragment.position() + fragment.length(), format});
    }
    for (const Piece& piece : pieces) {
      QTextCursor cursor(&m_page);
      cursor.setPosition(piece.start);
      cursor.setPosition(piece.end, QTextCursor::KeepAnchor);
      cursor.setCharFormat(piece.format);
    }
  }

  void styleTables(const QTextFrame& parent) {
    for (QTextFrame* frame : parent.childFrames()) {
      auto* table = qobject_cast<QTextTable*>(frame);
      if (table == nullptr) continue;
      QTextTableFormat format = table->format();
      format.setBorder(1);
      format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
      format.setBorderBrush(m_theme.color(Role::Line));
      format.setBorderCollapse(true);
      format.setCellPadding(6);
      format.setCellSpacing(0);
      format.setTopMargin(4);
      format.setBottomMargin(14);
      table->setFormat(format);
      for (int column = 0; column < table->columns(); ++column) {
        QTextTableCell cell = table->cellAt(0, column);
        QTextCharFormat head = cell.format();
        head.setBackground(m_theme.color(Role::Canvas));
        cell.setFormat(head);
        QTextCursor text = cell.firstCursorPosition();
        text.setPosition(cell.lastCursorPosition().position(), QTextCursor::KeepAnchor);
        QTextCharFormat weight;
        weight.setFontWeight(QFont::DemiBold);
        weight.setForeground(m_theme.color(Role::TextSecond));
        text.mergeCharFormat(weight);
      }
    }
  }

  /// Puts each run of code lines into a frame. Starts with the last run, so that earlier positions stay
  /// valid.
  void frameCode() {
    struct Run {
      int begin = 0;
      int end = 0;
      QString language;
    };
    std::vector<Run> runs;
    bool inside = false;
    for (QTextBlock block = m_page.begin(); block.isValid(); block = block.next()) {
      const int end = block.position() + block.length() - 1;
      const QString language = block.blockFormat().stringProperty(QTextFormat::BlockCodeLanguage);
      if (!isCode(block))
        inside = false;
      else if (std::exchange(inside, true) && runs.back().language == language)
        runs.back().end = end;
      else
        runs.push_back({block.position(), end, language});
    }
    QTextFrameFormat format;
    format.setBackground(m_theme.color(Role::Canvas));
    format.setBorder(1);
    format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setBorderBrush(m_theme.color(Role::Line));
    format.setPadding(8);
    format.setTopMargin(2);
    format.setBottomMargin(12);
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      QTextCursor cursor(&m_page);
      cursor.setPosition(run->begin);
      cursor.setPosition(run->end, QTextCursor::KeepAnchor);
      const QTextFrame* frame = cursor.insertFrame(format);
      // The frame split a block in two. The block in the frame has lost its style. An empty block is above
      // the frame.
      styleCode(m_page.findBlock(frame->firstPosition()));
      hide(m_page.findBlock(frame->firstPosition() - 1));
    }
  }

  /// Gives an empty block the min height.
  static void hide(const QTextBlock& block) {
    if (block.length() > 1) return;
    QTextBlockFormat format;
    format.setLineHeight(1, QTextBlockFormat::FixedHeight);
    QTextCursor(block).setBlockFormat(format);
  }

  QFont codeFont() const {
    QFont font = m_theme.monoFont();
    font.setPixelSize(kCodeSize + m_larger);
    return font;
  }

  QTextDocument& m_page;
  Theme m_theme;
  int m_larger;
};

}  // namespace

void styleManual(QTextDocument& page, const Theme& theme, int larger) {
  Styler(page, theme, larger).run();
}

namespace {

std::optional<QStringList> readLines(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return std::nullopt;
  return QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
}

}  // namespace

std::vector<ManualPage> readManual(const QString& folder) {
  std::vector<ManualPage> pages;
  const QString index = QString::fromLatin1(kManualIndex);
  const std::optional<QStringList> list = readLines(folder + QLatin1Char('/') + index);
  if (!list) return pages;
  static const QRegularExpression heading(QStringLiteral("^##\\s+(.*\\S)\\s*$"));
  static const QRegularExpression title(QStringLiteral("^#\\s+(.*\\S)\\s*$"));
  static const QRegularExpression link(QStringLiteral("\\[([^\\]]+)\\]\\(([^)#:]+\\.md)\\)"));
  pages.push_back({.path = index, .title = index, .section = {}, .lines = *list});
  QString section;
  for (const QString& line : *list) {
    if (const auto match = title.match(line); match.hasMatch()) pages.front().title = match.captured(1);
    if (const auto match = heading.match(line); match.hasMatch()) section = match.captured(1);
    for (auto found = link.globalMatch(line); found.hasNext();) {
      const QRegularExpressionMatch match = found.next();
      const QString path = resolvedManualPath(index, match.captured(2));
      if (findManualPage(pages, path)) continue;
      if (auto lines = readLines(folder + QLatin1Char('/') + path))
        pages.push_back(
            {.path = path, .title = match.captured(1), .section = section, .lines = std::move(*lines)});
    }
  }
  return pages;
}

std::optional<std::size_t> findManualPage(const std::vector<ManualPage>& pages, const QString& path) {
  const auto found =
      std::find_if(pages.begin(), pages.end(), [&path](const ManualPage& page) { return page.path == path; });
  if (found == pages.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pages.begin());
}

QString manualPageOfDock(const QString& dockId) {
  return QStringLiteral("docks/%1.md").arg(dockId);
}

QString headingAnchor(const QString& heading) {
  QString anchor;
  for (const QChar letter : heading.toLower()) {
    if (letter.isLetterOrNumber() || letter == QLatin1Char('-') || letter == QLatin1Char('_'))
      anchor += letter;
    else if (letter == QLatin1Char(' '))
      anchor += QLatin1Char('-');
  }
  return anchor;
}

QString resolvedManualPath(const QString& page, const QString& link) {
  return QDir::cleanPath(QFileInfo(page).path() + QLatin1Char('/') + link);
}

namespace {

bool isFence(const QString& line) {
  return line.trimmed().startsWith(QLatin1String("```"));
}

/// Matches a link or a picture. The first group is its text.
const QRegularExpression& link() {
  static const QRegularExpression expression(QStringLiteral("!?\\[([^\\]]*)\\]\\([^)]*\\)"));
  return expression;
}

/// Removes each emphasis mark alone, because emphasis can begin and end on different lines.
QString withoutMarks(QString text) {
  static const QRegularExpression mark(
      QStringLiteral("\\*\\*|(?<![\\w*])[*_](?=\\w)|(?<=[\\w.…])[*_](?![\\w*])"));
  return text.replace(link(), QStringLiteral("\\1")).remove(mark);
}

bool holdsAll(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(),
                     [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

enum class Kind { Prose, Heading, Code };

struct Text {
  Kind kind = Kind::Prose;
  QString markdown;
};

/// Joins the lines of a paragraph or a list item. Headings, table rows and lines of code stay alone.
std::vector<Text> textsOf(const QStringList& lines) {
  static const QRegularExpression item(QStringLiteral("^\\s*([-*]|\\d+\\.)\\s"));
  std::vector<Text> texts;
  bool code = false;
  bool goesOn = false;  // the next line of prose belongs to the last text
  for (const QString& line : lines) {
    const bool isHeading = line.startsWith(QLatin1Char('#'));
    const bool isRow = line.startsWith(QLatin1Char('|'));
    if (isFence(line)) {
      code = !code;
      goesOn = false;
    } else if (code) {
      texts.push_back({.kind = Kind::Code, .markdown = line});
    } else if (line.trimmed().isEmpty()) {
      goesOn = false;
    } else if (goesOn && !isHeading && !isRow && !item.match(line).hasMatch()) {
      texts.back().markdown += QLatin1Char(' ') + line.trimmed();
    } else {
      texts.push_back({.kind = isHeading ? Kind::Heading : Kind::Prose, .markdown = line});
      goesOn = !isHeading && !isRow;
    }
  }
  return texts;
}

}  // namespace

QStringList searchWords(const QString& typed) {
  return typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

QString shownLine(const QString& markdown) {
  static const QRegularExpression start(QStringLiteral("^\\s*(#{1,6}\\s+|[-*]\\s+|\\d+\\.\\s+|>\\s*)"));
  static const QRegularExpression rule(QStringLiteral("^\\s*\\|?[\\s:|-]+\\|?\\s*$"));
  if (rule.match(markdown).hasMatch()) return {};
  QString text = markdown;
  text.remove(start);
  // Text between backticks is shown unchanged.
  QStringList parts = text.split(QLatin1Char('`'));
  for (qsizetype i = 0; i < parts.size(); i += 2) parts[i] = withoutMarks(parts[i]);
  text = parts.join(QString()).replace(link(), QStringLiteral("\\1"));
  const QString bar(QLatin1Char('\x1f'));  // an escaped bar, which does not separate cells
  text.replace(QStringLiteral("\\|"), bar);
  if (text.startsWith(QLatin1Char('|'))) {
    QStringList cells;
    for (const QString& cell : text.split(QLatin1Char('|'))) {
      if (!cell.trimmed().isEmpty()) cells += cell.trimmed();
    }
    text = cells.join(QStringLiteral("  "));
  }
  return text.replace(bar, QStringLiteral("|")).trimmed();
}

std::vector<ManualHit> searchManual(const std::vector<ManualPage>& pages, const QString& typed) {
  const QStringList words = searchWords(typed);
  const QString phrase = words.join(QLatin1Char(' '));
  std::vector<ManualHit> headings;
  std::vector<ManualHit> phrases;
  std::vector<ManualHit> others;
  if (words.isEmpty()) return headings;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    QString heading;
    for (const Text& text : textsOf(pages[page].lines)) {
      const QString shown = text.kind == Kind::Code ? text.markdown.trimmed() : shownLine(text.markdown);
      if (text.kind == Kind::Heading) heading = shown;
      if (shown.isEmpty() || !holdsAll(shown, words)) continue;
      auto& list = text.kind == Kind::Heading                    ? headings
                   : shown.contains(phrase, Qt::CaseInsensitive) ? phrases
                                                                 : others;
      list.push_back({.page = page, .heading = heading, .text = shown});
    }
  }
  headings.insert(headings.end(), phrases.begin(), phrases.end());
  headings.insert(headings.end(), others.begin(), others.end());
  return headings;
}

QString excerptOf(const QString& text, const QStringList& words, qsizetype length) {
  if (text.size() <= length) return text;
  qsizetype first = text.size();
  for (const QString& word : words) {
    if (const qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0) first = std::min(first, at);
  }
  qsizetype begin = std::clamp<qsizetype>(first - length / 3, 0, text.size() - length);
  // Begin with a whole word.
  if (begin > 0) begin = std::min(text.indexOf(QLatin1Char(' '), begin) + 1, first);
  const QString part = text.mid(begin, length).trimmed();
  return (begin > 0 ? QStringLiteral("…") : QString()) + part +
         (begin + length < text.size() ? QStringLiteral("…") : QString());
}

QString withBoldWords(const QString& text, const QStringList& words) {
  QStringList patterns;
  for (const QString& word : words) patterns += QRegularExpression::escape(word);
  if (patterns.isEmpty()) return text.toHtmlEscaped();
  const QRegularExpression any(patterns.join(QLatin1Char('|')), QRegularExpression::CaseInsensitiveOption);
  QString html;
  qsizetype from = 0;
  for (auto found = any.globalMatch(text); found.hasNext();) {
    const QRegularExpressionMatch match = found.next();
    html += text.mid(from, match.capturedStart() - from).toHtmlEscaped() + QStringLiteral("<b>") +
            match.captured().toHtmlEscaped() + QStringLiteral("</b>");
    from = match.capturedEnd();
  }
  return html + text.mid(from).toHtmlEscaped();
}

}  // namespace spanscope::ui

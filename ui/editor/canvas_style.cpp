// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_style.h"

#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"
#include "ui/words/short_names.h"
#include "ui/words/tr.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPixmap>
#include <QTextLine>
#include <QTextOption>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

namespace {

QBrush overlay(const QColor& color, BlockRole role) {
  QPixmap tile(6, 6);
  tile.fill(Qt::transparent);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  if (role == BlockRole::Relocated) {
    painter.setPen(QPen(color, 1.4));
    painter.drawLine(QPointF(-1, 7), QPointF(7, -1));
    painter.drawLine(QPointF(-4, 4), QPointF(4, -4));
    painter.drawLine(QPointF(2, 10), QPointF(10, 2));
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(QPointF(3, 3), 1.3, 1.3);
  }
  painter.end();
  return QBrush(tile);
}

}  // namespace

CanvasStyle::CanvasStyle(const Theme& of)
    : theme(of),
      surface(of.color(Role::Surface)),
      canvas(of.color(Role::Canvas)),
      grid(of.color(Role::Grid)),
      outline(of.color(Role::Outline)),
      wire(of.color(Role::Wire)),
      text(of.color(Role::Text)),
      textSecond(of.color(Role::TextSecond)),
      textThird(of.color(Role::TextThird)),
      accent(of.color(Role::Accent)),
      accentFill(of.color(Role::AccentFill)),
      error(of.color(Role::Error)),
      errorFill(of.color(Role::ErrorFill)),
      hit(of.color(Role::HitInk)),
      computed(of.color(Role::ComputedInk)),
      line(of.color(Role::Line)),
      titleFont(of.titleFont()),
      bodyFont(of.interfaceFont()),
      smallFont(of.smallFont()),
      monoFont(of.monoFont()) {
  bodyFont.setPixelSize(12);
  for (QFont* font : {&titleFont, &bodyFont, &smallFont, &monoFont}) {
    // Without hinting, widths of texts change smoothly with the zoom.
    font->setHintingPreference(QFont::PreferNoHinting);
  }
  m_relocatedPattern = overlay(surface, BlockRole::Relocated);
  m_computedPattern = overlay(surface, BlockRole::Computed);
  for (std::size_t i = 0; i < m_segmentPatterns.size(); ++i)
    m_segmentPatterns[i] = theme.segmentPattern(i * kSegmentHues);
}

const QBrush& CanvasStyle::segmentPattern(std::size_t segment) const {
  return m_segmentPatterns[std::min(segment / kSegmentHues, m_segmentPatterns.size() - 1)];
}

QBrush CanvasStyle::servedInk(BlockRole role) const {
  return QBrush(theme.ink(role));
}

QBrush CanvasStyle::servedPattern(BlockRole role) const {
  if (role == BlockRole::Relocated) return m_relocatedPattern;
  if (role == BlockRole::Computed) return m_computedPattern;
  return {};
}

namespace {

constexpr qsizetype kMostCost = 40'000;  ///< max size of the cache, in characters
constexpr qsizetype kTextCost = 40;      ///< min cost of a text, even if it is shorter
constexpr double kUnit = 1.0 / 64;       ///< the unit in which Qt measures texts
/// Pixels for one character. Most texts need more than the first value, and every text needs more than the
/// second.
constexpr std::array kAdvances{5.0, 2.0};

/// Whether all characters are written from left to right.
bool isLeftToRight(const QString& text) {
  return std::none_of(text.begin(), text.end(), [](QChar c) {
    if (c.unicode() < 0x590) return false;
    switch (c.direction()) {
      case QChar::DirL:
      case QChar::DirEN:
      case QChar::DirES:
      case QChar::DirET:
      case QChar::DirCS:
      case QChar::DirWS:
      case QChar::DirON:
      case QChar::DirNSM:
        return c.isSurrogate();
      default:
        return true;
    }
  });
}

}  // namespace

TextSetter::Shaped::Shaped(const QString& text, const QFont& font)
    : layout(text, font), isLeftToRight(ui::isLeftToRight(text)) {
  QTextOption option;
  option.setWrapMode(QTextOption::NoWrap);
  layout.setTextOption(option);
  layout.setCacheEnabled(true);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  // A text from right to left begins at the right end of the line, so the line gets the width of the text.
  if (!isLeftToRight) {
    width = QFontMetricsF(font).horizontalAdvance(text);
    line.setLineWidth(width);
  }
  layout.endLayout();
  if (!line.isValid()) return;
  if (isLeftToRight) width = line.cursorToX(static_cast<int>(text.size()));
  runs = layout.glyphRuns();
}

TextSetter::TextSetter() : m_shaped(kMostCost) {}

const TextSetter::Shaped& TextSetter::shaped(const QString& text, const QFont& font) {
  const std::pair key(font, text);
  if (const Shaped* known = m_shaped.object(key)) return *known;
  auto made = std::make_unique<Shaped>(text, font);
  const Shaped& result = *made;
  m_shaped.insert(key, made.release(), std::min(kMostCost, kTextCost + text.size()));
  return result;
}

TextLine TextSetter::whole(const QString& text, const QFont& font) {
  const Shaped& shape = shaped(text, font);
  return {.text = text, .runs = shape.runs, .width = shape.width};
}

double TextSetter::widthOf(const QString& text, const QFont& font) {
  return text.isEmpty() ? 0 : shaped(text, font).width;
}

TextLine TextSetter::line(const QString& text, const QFont& font, double width) {
  if (text.isEmpty()) return {};
  if (text.size() == 1) return whole(text, font);
  const double room = std::floor(width / kUnit) * kUnit;
  const QString ellipsis(QChar(0x2026));
  const double beforeEllipsis = room - widthOf(ellipsis, font);
  for (const double advance : kAdvances) {
    // Only the part that can be visible is shaped.
    const auto most = static_cast<qsizetype>(std::max(0.0, width) / advance) + 2;
    const bool isAll = text.size() <= most || advance == kAdvances.back();
    const QString seen = isAll ? text : text.left(most);
    if (!isAll && !isLeftToRight(seen)) continue;
    const Shaped& shape = shaped(seen, font);
    if (shape.width <= room) {
      if (isAll) return whole(seen, font);
      continue;
    }
    if (!shape.isLeftToRight) {
      const QString shown = QFontMetricsF(font).elidedText(text, Qt::ElideRight, width);
      return shown.isEmpty() ? TextLine{} : whole(shown, font);
    }
    if (beforeEllipsis < 0) return {};
    const QTextLine line = shape.layout.lineAt(0);
    return whole(seen.left(line.xToCursor(beforeEllipsis, QTextLine::CursorOnCharacter)) + ellipsis, font);
  }
  return {};
}

std::vector<TextLine> TextSetter::lines(const QString& text, const QFont& font, double width, int lines,
                                        std::optional<double> lastWidth) {
  std::vector<TextLine> result;
  if (text.isEmpty() || lines <= 0) return result;
  for (const double advance : kAdvances) {
    // Only the part that can be visible is shaped. A document can have thousands of words, and a card a few
    // lines.
    const QString seen = text.left(static_cast<qsizetype>(width / advance * (lines + 1)));
    const bool isAll = seen.size() == text.size() || advance == kAdvances.back();
    QTextLayout layout(seen, font);
    std::vector<std::pair<int, int>> places;  // first character and length
    bool goesOn = false;
    layout.beginLayout();
    while (static_cast<int>(places.size()) < lines) {
      QTextLine line = layout.createLine();
      if (!line.isValid()) break;
      line.setLineWidth(width);
      places.emplace_back(line.textStart(), line.textLength());
      goesOn = line.textStart() + line.textLength() < seen.size();
    }
    layout.endLayout();
    // The shaped part does not fill the lines, so more of the text can be visible.
    if (!isAll && !goesOn) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [from, length] = places[i];
      const bool last = static_cast<int>(i) == lines - 1;
      const QString shown = last ? seen.mid(from) : seen.mid(from, length);
      result.push_back(line(shown.trimmed(), font, last ? lastWidth.value_or(width) : width));
    }
    break;
  }
  return result;
}

namespace {

QString countText(const NodeLook& look, const NodeStatus& status) {
  if (status.tokens < 0) return {};
  if (look.answers) {
    if (status.generated == 0) return QString::number(status.tokens);
    return QStringLiteral("%1+%2").arg(status.tokens).arg(status.generated);
  }
  return tr("%1 tok").arg(status.tokens);
}

/// A model or server in few letters: the last part of a path, and an address without its scheme.
QString shortAnswerer(const std::string& name) {
  const QString text = QString::fromStdString(name);
  const qsizetype scheme = text.indexOf(QLatin1String("://"));
  if (scheme >= 0) return text.mid(scheme + 3);
  return text.section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty);
}

QString stateText(const NodeLook& look, const NodeStatus& status) {
  if (look.isFrozen())
    return look.frozen.size() == 1 ? tr("frozen") : tr("%1 frozen answers").arg(look.frozen.size());
  switch (status.phase) {
    case NodePhase::Waiting:
      return tr("waiting");
    case NodePhase::Running:
      if (status.generated > 0 || status.hasBegun) return tr("answering");
      if (status.tokens <= 0) return tr("reading the prompt");
      return tr("read %1 of %2 tokens").arg(status.read).arg(status.tokens);
    case NodePhase::Stopped:
      return tr("stopped");
    case NodePhase::Failed:
      return tr("failed");
    case NodePhase::Finished:
      // The model line names the model that would answer now. The state names the model that did answer.
      if (!status.answeredBy.empty()) return tr("answer of %1").arg(shortAnswerer(status.answeredBy));
      // A run with a warning of the engine gets no tick.
      return status.advice.empty() ? tr("✓ finished") : tr("⚠ finished");
    case NodePhase::None:
      return {};
  }
  return {};
}

/// "3 200", with a space at which no line is broken.
QString grouped(std::int64_t count) {
  QString digits = QString::number(count);
  for (qsizetype at = digits.size() - 3; at > 0; at -= 3) digits.insert(at, QChar(0x202F));
  return digits;
}

/// Returns the end of a text that fits into `lines` lines.
QString endOf(const QString& text, const QFont& font, double width, int lines) {
  const QFontMetricsF metrics(font);
  // Words are not broken, so a line is not always full.
  return metrics.elidedText(text, Qt::ElideLeft, width * lines - (lines - 1) * 48);
}

/// Returns the first frozen answers, one per line, if there is room for them.
std::vector<TextLine> frozenLines(TextSetter& setter, const QStringList& answers, const QFont& font,
                                  double width, int room) {
  std::vector<TextLine> lines;
  for (qsizetype i = 0; i < std::min<qsizetype>({answers.size(), 2, room}); ++i)
    lines.push_back(setter.line(tr("%1 · %2").arg(i + 1).arg(answers[i]), font, width));
  return lines;
}

/// Returns the longest text about the tokens of a stack that fits. Numbers are not cut. The count of tokens
/// is more important than the cached share.
TextLine stackLine(TextSetter& setter, const NodeStatus& status, const QFont& font, double width) {
  QStringList shorter{stackText(status)};
  const QString share = status.cachedShare();
  if (status.tokens >= 0) {
    const QString count = grouped(status.tokens);
    if (!share.isEmpty()) shorter += {tr("%1 tok · %2").arg(count, share), tr("%1 · %2").arg(count, share)};
    shorter += {tr("%1 tokens").arg(count), tr("%1 tok").arg(count), count};
  } else if (!share.isEmpty()) {
    shorter += share;
  }
  const auto fitting = std::find_if(shorter.begin(), shorter.end(),
                                    [&](const QString& text) { return setter.widthOf(text, font) <= width; });
  return setter.line(fitting == shorter.end() ? shorter.last() : *fitting, font, width);
}

/// Returns the promise of a pill in the lines that fit. Empty if a word would be cut. The tool tip has the
/// whole text.
std::vector<TextLine> promiseLines(TextSetter& setter, const NodeLook& look, const QFont& font,
                                   double scale) {
  constexpr int kMostLines = 3;
  const double used = kPillTop + kPillTitle + (look.name.isEmpty() ? 0 : kCardLine) +
                      (look.problem.isEmpty() ? 0 : 2 * kCardLine);
  const int room = static_cast<int>((look.rect.height / scale - used) / kCardLine);
  if (look.promise.isEmpty() || room < 1) return {};
  std::vector<TextLine> lines =
      setter.lines(look.promise, font, look.rect.width / scale - 8, std::min(room, kMostLines));
  QString shown;
  for (const TextLine& line : lines) shown += line.text;
  const auto letters = [](QString text) { return text.remove(QLatin1Char(' ')); };
  return letters(shown) == letters(look.promise) ? lines : std::vector<TextLine>();
}

/// Shortens a title before the number at its end, so that titles of several documents stay distinct: "doc 2".
/// Returns other titles unchanged.
QString withNumber(TextSetter& setter, const QString& title, const QFont& font, double room) {
  const QStringList forms = shortForms(title);
  const auto fitting =
      std::ranges::find_if(forms, [&](const QString& form) { return setter.widthOf(form, font) <= room; });
  return fitting == forms.end() ? forms.back() : *fitting;
}

/// Returns a title in the largest font in which it is whole, at most a fifth smaller than `font`. If there is
/// none, the title is cut.
TextLine titleLine(TextSetter& setter, const QString& title, const QFont& font, double room) {
  QFont smaller = font;
  for (const double share : {1.0, 0.9, 0.8}) {
    smaller.setPixelSize(std::max(1, static_cast<int>(std::floor(font.pixelSize() * share))));
    if (setter.widthOf(title, smaller) <= room) return setter.line(title, smaller, room);
  }
  return setter.line(withNumber(setter, title, font, room), font, room);
}

}  // namespace

QString passagesText(const NodeStatus& status) {
  if (status.passages < 0) return {};
  if (status.passages == 0) return tr("no match");
  const QString best = scoreText(status.bestScore);
  return status.passages == 1
             ? tr("1 passage, score %1").arg(best)
             : tr(/*id:passages-and-best-score*/ "%1 passages, best %2").arg(status.passages).arg(best);
}

QString stackText(const NodeStatus& status) {
  QStringList parts;
  if (status.tokens >= 0) parts.append(tr("%1 tokens").arg(grouped(status.tokens)));
  if (const QString share = status.cachedShare(); !share.isEmpty())
    parts.append(metricPhrase("cached-tokens", share));
  return parts.join(QStringLiteral(" · "));
}

NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodePrediction* prediction,
                        const CanvasStyle& style, double scale) {
  TextSetter& setter = style.setter();
  NodeTexts texts;
  texts.scale = scale;
  if (look.pill) {
    const double width = look.rect.width / scale;
    texts.title = titleLine(setter, look.title, style.titleFont, width - std::min(20.0, width / 8));
    texts.name = setter.line(look.name, style.smallFont, width - 20);
    texts.promise = promiseLines(setter, look, style.smallFont, scale);
    for (const QString& label : look.labels)
      texts.numbers.push_back(setter.line(label, style.smallFont, kMostLabel));
    texts.problem = setter.line(look.problem, style.smallFont, width - 8);
    if (look.spread) texts.hidden = setter.line(tr("stack"), style.smallFont, kMostChip);
  } else {
    const NodeCardPlan plan(look, scale);
    const double width = plan.width;
    // The name of the step, as in the views of its run.
    const bool hasStep =
        look.answers && look.stacked == 0 && look.name.isEmpty() && status.step != look.title;
    const QString& more = !look.name.isEmpty() ? look.name : hasStep ? status.step : look.identity;
    QString title = more.isEmpty() ? look.title : look.title + QStringLiteral(" · ") + more;
    if (width >= 130) {
      // A low card has no line for the tokens of a stack.
      const bool isLow = plan.bodyLines <= 0 && status.tokens >= 0;
      const QString open = isLow         ? tr("%1 tok ›").arg(grouped(status.tokens))
                           : width < 190 ? QStringLiteral("›")
                                         : tr("open ›");
      texts.count = look.stacked > 0 ? setter.line(open, style.smallFont, 90)
                                     : setter.line(countText(look, status), style.monoFont, 90);
    }
    const QString share = status.cachedShare();
    if (!share.isEmpty() && look.stacked == 0) texts.share = setter.line(share, style.monoFont, kShareWidth);
    // On a very low card, the cached share is beside the title.
    const bool isBesideTitle = plan.hasBar && plan.shareTop + kShareRise < plan.titleTop + kCardLine - 4;
    const double besideTitle = isBesideTitle ? texts.share.width : 0;
    const double whole = width - plan.titleLeft - kCardRight - 8 - besideTitle;
    const auto fits = [&](double room) { return setter.widthOf(title, style.titleFont) <= room; };
    // If there is no room for both, the name is more important than the operator, and the title more than the
    // count.
    if (!more.isEmpty() && !fits(whole - texts.count.width)) title = more;
    if (look.stacked == 0 && !fits(whole - texts.count.width) && fits(whole)) texts.count = {};
    if (status.looked >= 0 && !look.muted && scale <= kMostChipScale) {
      // The chip is in the card, beside the title, so that it covers nothing. The tool tip has the share,
      // too.
      const QString part = partText(status.looked);
      const double chip = whole - 2 * kLookedSides;
      for (const QString& text : {tr(/*id:card-share*/ "share %1").arg(part), part}) {
        const double needed = setter.widthOf(text, style.smallFont);
        if (!more.isEmpty() && !fits(chip - needed) && setter.widthOf(more, style.titleFont) <= chip - needed)
          title = more;
        if (!fits(chip - needed)) continue;
        texts.looked = setter.line(text, style.smallFont, needed + 1);
        texts.count = {};
        break;
      }
    }
    // Without a count, the title may end near the edge.
    constexpr double kToEdge = 4;
    const double room = texts.looked.width > 0  ? whole - texts.looked.width - 2 * kLookedSides
                        : texts.count.width > 0 ? whole - texts.count.width
                        : besideTitle > 0       ? whole
                                                : width - plan.titleLeft - kToEdge;
    texts.title = titleLine(setter, title, style.titleFont, room);
    texts.problem = setter.line(look.problem, style.smallFont, width - kCardLeft - kCardRight - 16);
    if (prediction != nullptr)
      texts.prediction = setter.line(predictionBadge(*prediction), style.smallFont, width / 2);
    if (look.answers) {
      const double inner = plan.answer.width() - 16;
      texts.modelLine = setter.line(look.modelLine, style.bodyFont, width - kCardLeft - kCardRight);
      QString answer = look.isFrozen() ? look.frozen.first() : QString::fromStdString(status.answer);
      if (!look.isFrozen() && status.phase == NodePhase::Failed && !status.failure.empty()) {
        answer = QString::fromStdString(status.failure);
      }
      // A small card has no line for the state, so the answer begins with the name of the model.
      if (!look.isFrozen() && !status.answeredBy.empty() && !plan.hasState)
        answer = tr("%1: %2").arg(shortAnswerer(status.answeredBy), answer);
      const bool streams = status.phase == NodePhase::Running && !look.isFrozen();
      // While the answer streams, the card shows the end of the answer, which is new.
      const QString flat = answer.simplified();
      const int lines = plan.bodyLines;
      texts.body = setter.lines(streams && lines > 0 ? endOf(flat, style.bodyFont, inner, lines) : flat,
                                style.bodyFont, inner, lines);
      if (look.frozen.size() > 1) texts.body = frozenLines(setter, look.frozen, style.bodyFont, inner, lines);
      const double stateWidth = status.copies > 1 && !look.isFrozen() ? plan.answer.width() / 2 : inner;
      texts.state = setter.line(stateText(look, status), style.smallFont, stateWidth);
      if (status.copies > 1 && !look.isFrozen()) {
        texts.picker =
            setter.line(tr("%1 of %2 ›").arg(status.copy + 1).arg(status.copies), style.smallFont, 90);
      }
    } else {
      const double inner = width - kCardLeft - kCardRight;
      const QString found = look.stacked > 0 ? stackText(status) : passagesText(status);
      const int lines = std::max(0, plan.bodyLines - (found.isEmpty() ? 0 : 1));
      // If the tokens of a stack are not known, it shows the text of its first member.
      const QString text = look.stacked > 0 && !found.isEmpty() ? QString() : look.text;
      // The cached share covers the end of a line at the same height.
      const bool besideShare =
          texts.share.width > 0 && plan.bodyTop + lines * kCardLine > plan.shareTop + kShareRise;
      texts.body = setter.lines(text, style.bodyFont, inner, lines,
                                besideShare ? std::optional(plan.bar.width()) : std::nullopt);
      if (!found.isEmpty() && plan.bodyLines > 0) {
        texts.body.push_back(look.stacked > 0 ? stackLine(setter, status, style.bodyFont, inner)
                                              : setter.line(found, style.bodyFont, inner));
      }
    }
  }
  if (look.muted || look.isFrozen()) {
    texts.chip = setter.line(look.muted ? tr("muted") : tr("frozen"), style.smallFont, kMostChip);
  }
  if (look.collapsed)
    texts.hidden = setter.line(tr("%1 hidden").arg(look.hidden), style.smallFont, kMostChip);
  return texts;
}

}  // namespace spanscope::ui

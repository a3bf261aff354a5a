// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_browser.h"

#include "ui/manual/manual_style.h"

#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QScrollBar>
#include <QSvgRenderer>
#include <QTextBlock>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kPictureWidth = 760;  // pixels: what fits beside the contents in a window of usual width
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
    // A row of a table is several blocks, one for each cell.
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
  // Pictures lie in the folder of the manual, or beside it in the resources.
  const QString path =
      m_folder + QLatin1Char('/') + resolvedManualPath(m_page.path, name.toString(QUrl::RemoveFragment));
  if (path.endsWith(QLatin1String(".svg"))) return drawing(path);
  const QImage image(path);
  if (image.isNull()) return {};
  return image.scaled(fitted(image.size()), Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads, searches and shows the pages of the manual. The pages are Markdown files.
#pragma once

#include "ui/theme/theme.h"

#include <QString>
#include <QStringList>
#include <QTextBrowser>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The page that lists all other pages.
inline constexpr const char* kManualIndex = "index.md";

struct ManualPage {
  QString path;       ///< path below the folder of the manual: "docks/pool.md"
  QString title;      ///< title of the page in the index
  QString section;    ///< the index lists the page under this heading; empty: above the first heading
  QStringList lines;  ///< lines of its Markdown
};

/// Reads `index.md` in `folder`, and then every linked page once, in the order of the links. Leaves out files
/// that cannot be read. Empty if there is no index.
std::vector<ManualPage> readManual(const QString& folder);

std::optional<std::size_t> findManualPage(const std::vector<ManualPage>& pages, const QString& path);

/// Returns the path of the page about a dock: "docks/pool.md".
QString manualPageOfDock(const QString& dockId);

/// Returns the name of a heading in links: "TTFT and ITL" → "ttft-and-itl".
QString headingAnchor(const QString& heading);

/// Returns the path to which a link in `page` leads: "docks/pool.md" for "../docks/pool.md" in
/// "numbers/x.md".
QString resolvedManualPath(const QString& page, const QString& link);

struct ManualHit {
  std::size_t page = 0;
  QString heading;  ///< the heading above the text, without markup; the text itself if the hit is a heading
  QString text;  ///< a paragraph, a list item, a table row, a heading or a line of code, as the page shows it
  bool operator==(const ManualHit&) const = default;
};

/// Returns the words of the typed text, which spaces separate.
QStringList searchWords(const QString& typed);

/// Returns every text that contains all words. Upper case equals lower case. Headings come first, then texts
/// with the words in this order, then others. Each group keeps the order of the pages. A sentence that
/// continues on the next line of the file is one text.
std::vector<ManualHit> searchManual(const std::vector<ManualPage>& pages, const QString& typed);

/// Returns Markdown without its markup, as the page shows it. Two spaces separate the cells of a table.
QString shownLine(const QString& markdown);

/// Returns at most `length` characters of `text` around the first of the words. "…" marks removed text.
QString excerptOf(const QString& text, const QStringList& words, qsizetype length);

/// Returns the HTML of a plain text with the words in bold.
QString withBoldWords(const QString& text, const QStringList& words);

}  // namespace spanscope::ui
class QTextDocument;

namespace spanscope::ui {

/// Shows one page of the manual.
class ManualBrowser : public QTextBrowser {
  Q_OBJECT
 public:
  explicit ManualBrowser(QString folder, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void showPage(const ManualPage& page);
  /// Highlights the words on this page and on all later pages. An empty list removes the highlights.
  void highlight(const QStringList& words);
  /// Scrolls to the first highlighted word of the hit. The page of the hit must be shown.
  void goTo(const ManualHit& hit);
  /// Makes the text larger or smaller by steps. Texts of all pages have the same size.
  void zoom(int steps);

  QVariant loadResource(int type, const QUrl& name) override;

 private:
  void render();
  void showHighlights();

  QString m_folder;
  Theme m_theme;
  ManualPage m_page;
  QStringList m_words;  ///< highlighted
  int m_zoom = 0;
};

/// Applies the fonts, colours and distances of the theme to a page that Qt has read from Markdown. Gives each
/// heading its anchor. Call this function once for each page. `larger` is added to the pixel size of every
/// font.
void styleManual(QTextDocument& page, const Theme& theme, int larger = 0);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/manual/manual_browser.h"
#include "ui/theme/theme.h"

#include <QString>
#include <QWidget>

#include <cstddef>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;
class QToolButton;
class QTreeWidget;
class QUrl;

namespace spanscope::ui {

/// The pages that the user has read, to go back and forward.
class ManualHistory {
 public:
  struct Place {
    QString page;
    int scroll = 0;  ///< pixels from the top when the user left the page
  };

  /// Adds a page after the current one, and removes all later pages.
  void open(const QString& page);
  /// Replaces the current page by another one.
  void change(const QString& page);
  /// Stores the scroll position of the current page.
  void leaveAt(int scroll);

  bool canGoBack() const { return m_now > 1; }
  bool canGoForward() const { return m_now < m_places.size(); }
  const Place& goBack();
  const Place& goForward();

 private:
  std::vector<Place> m_places;
  std::size_t m_now = 0;  ///< number of places up to the current one
};

class ManualBrowser;

/// The window of the manual. The left side shows the contents or the search results. The right side shows the
/// page.
///
/// Ctrl+F goes to the search field. Down and Up move through the hits and show the page of each. Return moves
/// the focus to the page. F3 and Shift+F3 show the next and the previous hit from anywhere. Escape ends the
/// search.
class ManualWindow : public QWidget {
  Q_OBJECT
 public:
  /// Reads the pages in `folder`.
  explicit ManualWindow(const QString& folder, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  /// Goes to a page ("docks/pool.md", "numbers.md#cached"). If there is no such page, goes to the contents.
  void openPage(const QString& page);

  QString page() const { return m_page; }
  const std::vector<ManualPage>& pages() const { return m_pages; }

 Q_SIGNALS:
  /// The user clicked a link to a dock, a command or an example. Docks and commands have ids. Examples have
  /// file names.
  void dockWanted(const QString& id);
  void commandWanted(const QString& id);
  void exampleWanted(const QString& fileName);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeSide();
  QWidget* makeBar();
  void addShortcuts();
  void fillContents();
  void showPage(const QString& page, int scroll);
  void leave();
  void goBack();
  void goForward();
  void search(const QString& typed);
  void showHit(int row);
  void stepHit(int by);
  void readPage();
  void follow(const QUrl& link);
  void refresh();

  std::vector<ManualPage> m_pages;
  std::vector<ManualHit> m_hits;
  ManualHistory m_history;
  bool m_walksHits = false;  ///< the current place of the history is the page of a hit
  QString m_page;
  ManualBrowser* m_browser = nullptr;
  QTreeWidget* m_contents = nullptr;
  QListWidget* m_found = nullptr;
  QLineEdit* m_search = nullptr;
  QLabel* m_count = nullptr;
  QLabel* m_title = nullptr;
  QToolButton* m_back = nullptr;
  QToolButton* m_forward = nullptr;
};

}  // namespace spanscope::ui

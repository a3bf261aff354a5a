// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_window.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QScrollBar>
#include <QShortcut>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTextDocument>
#include <QToolButton>
#include <QTreeWidget>
#include <QUrl>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {

namespace {

constexpr QSize kSize(1180, 820);
constexpr int kSideWidth = 300;
constexpr int kPathRole = Qt::UserRole;
constexpr int kHtmlRole = Qt::UserRole + 1;
constexpr std::size_t kMostHits = 200;
constexpr qsizetype kExcerptLength = 160;

QToolButton* barButton(const QString& sign, const QString& name, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(sign);
  button->setAutoRaise(true);
  button->setAccessibleName(name);
  button->setToolTip(tip);
  return button;
}

/// Draws a hit: its page and heading in bold, below them an excerpt with the words in bold.
class HitDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    item.text.clear();
    item.widget->style()->drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
    QTextDocument text;
    fill(text, item, index, item.rect.width());
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = item.palette;
    painter->save();
    painter->translate(item.rect.topLeft());
    text.documentLayout()->draw(painter, context);
    painter->restore();
  }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto* list = qobject_cast<const QListWidget*>(option.widget);
    const int width = list == nullptr ? option.rect.width() : list->viewport()->width();
    QTextDocument text;
    fill(text, option, index, width);
    return {width, static_cast<int>(text.size().height())};
  }

 private:
  static void fill(QTextDocument& text, const QStyleOptionViewItem& item, const QModelIndex& index,
                   int width) {
    text.setDefaultFont(item.font);
    text.setDocumentMargin(kSpace);
    text.setHtml(index.data(kHtmlRole).toString());
    text.setTextWidth(width);
  }
};

}  // namespace

ManualWindow::ManualWindow(const QString& folder, QWidget* parent)
    : QWidget(parent, Qt::Window), m_pages(readManual(folder)) {
  setObjectName(QStringLiteral("manual"));
  setWindowTitle(tr("Manual"));
  setAttribute(Qt::WA_StyledBackground);
  m_browser = new ManualBrowser(folder);
  connect(m_browser, &QTextBrowser::anchorClicked, this, &ManualWindow::follow);
  auto* right = new QWidget;
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  column->addWidget(m_browser, 1);
  auto* splitter = new QSplitter;
  splitter->setHandleWidth(1);
  splitter->addWidget(makeSide());
  splitter->addWidget(right);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({kSideWidth, kSize.width() - kSideWidth});
  splitter->setChildrenCollapsible(false);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(splitter);
  fillContents();
  addShortcuts();
  resize(kSize);
  setTheme(Theme());
  openPage(QString::fromLatin1(kManualIndex));
  m_browser->setFocus();
}

QWidget* ManualWindow::makeSide() {
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search all pages (Ctrl+F)"));
  m_search->setToolTip(tr("Find words on all pages; F3 shows the next match, Shift+F3 the previous match"));
  m_search->setAccessibleName(tr("Search all pages"));
  m_search->setClearButtonEnabled(true);
  m_search->installEventFilter(this);
  connect(m_search, &QLineEdit::textChanged, this, &ManualWindow::search);
  connect(m_search, &QLineEdit::returnPressed, this, [this] { readPage(); });

  m_count = new QLabel;
  m_count->setFont(Theme().smallFont());
  m_count->hide();

  m_contents = new QTreeWidget;
  m_contents->setAccessibleName(tr("Pages of the manual"));
  m_contents->setHeaderHidden(true);
  m_contents->setRootIsDecorated(false);
  m_contents->setIndentation(3 * kSpace);
  m_contents->setUniformRowHeights(true);
  connect(m_contents, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    const QString path = item == nullptr ? QString() : item->data(0, kPathRole).toString();
    if (!path.isEmpty() && path != m_page) openPage(path);
  });

  m_found = new QListWidget;
  m_found->setAccessibleName(tr("Search results"));
  m_found->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_found->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_found->setResizeMode(QListView::Adjust);
  m_found->setItemDelegate(new HitDelegate(m_found));
  m_found->installEventFilter(this);
  m_found->hide();
  connect(m_found, &QListWidget::currentRowChanged, this, &ManualWindow::showHit);
  connect(m_found, &QListWidget::itemActivated, this, [this] { readPage(); });

  auto* side = new QWidget;
  side->setMinimumWidth(200);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, 2 * kSpace);
  column->setSpacing(2 * kSpace);
  column->addWidget(m_search);
  column->addWidget(m_count);
  column->addWidget(m_contents, 1);
  column->addWidget(m_found, 1);
  return side;
}

QWidget* ManualWindow::makeBar() {
  m_back = barButton(QStringLiteral("←"), tr("Back"), tr("Back (Alt+Left)"));
  m_forward = barButton(QStringLiteral("→"), tr("Forward"), tr("Forward (Alt+Right)"));
  QToolButton* home = barButton(tr("Contents"), tr("Contents"), tr("Show the first page (F1)"));
  connect(m_back, &QToolButton::clicked, this, &ManualWindow::goBack);
  connect(m_forward, &QToolButton::clicked, this, &ManualWindow::goForward);
  connect(home, &QToolButton::clicked, this, [this] { openPage(QString::fromLatin1(kManualIndex)); });
  m_title = new QLabel;
  m_title->setFont(Theme().titleFont());
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  row->setSpacing(kSpace);
  row->addWidget(m_back);
  row->addWidget(m_forward);
  row->addWidget(home);
  row->addSpacing(2 * kSpace);
  row->addWidget(m_title, 1);
  return bar;
}

void ManualWindow::addShortcuts() {
  const auto add = [this](const QKeySequence& key, auto act) {
    connect(new QShortcut(key, this), &QShortcut::activated, this, act);
  };
  add(QKeySequence(QStringLiteral("Ctrl+F")), [this] {
    m_search->setFocus();
    m_search->selectAll();
  });
  add(QKeySequence(QStringLiteral("F3")), [this] { stepHit(1); });
  add(QKeySequence(QStringLiteral("Shift+F3")), [this] { stepHit(-1); });
  add(QKeySequence(QStringLiteral("Alt+Left")), [this] { goBack(); });
  add(QKeySequence(QStringLiteral("Alt+Right")), [this] { goForward(); });
  add(QKeySequence(QStringLiteral("F1")), [this] { openPage(QString::fromLatin1(kManualIndex)); });
  add(QKeySequence(QStringLiteral("Ctrl++")), [this] { m_browser->zoom(1); });
  add(QKeySequence(QStringLiteral("Ctrl+=")), [this] { m_browser->zoom(1); });
  add(QKeySequence(QStringLiteral("Ctrl+-")), [this] { m_browser->zoom(-1); });
  add(QKeySequence(QStringLiteral("Ctrl+W")), [this] { close(); });
  add(QKeySequence(Qt::Key_Escape), [this] {
    if (m_search->text().isEmpty())
      close();
    else
      m_search->clear();
  });
}

void ManualWindow::fillContents() {
  QTreeWidgetItem* section = nullptr;
  for (const ManualPage& page : m_pages) {
    if (!page.section.isEmpty() && (section == nullptr || section->text(0) != page.section)) {
      section = new QTreeWidgetItem(m_contents, {page.section});
      section->setFlags(Qt::ItemIsEnabled);
      section->setFont(0, Theme().titleFont());
    }
    QTreeWidgetItem* item = page.section.isEmpty() ? new QTreeWidgetItem(m_contents, {page.title})
                                                   : new QTreeWidgetItem(section, {page.title});
    item->setData(0, kPathRole, page.path);
    item->setToolTip(0, page.title);
  }
  m_contents->expandAll();
}

void ManualWindow::setTheme(const Theme& theme) {
  setStyleSheet(QStringLiteral("#manual { background: %1; } QTreeView { show-decoration-selected: 0; } "
                               "QTreeView::branch { background: %1; }")
                    .arg(theme.color(Role::Surface).name()));
  m_title->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextSecond).name()));
  m_count->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextThird).name()));
  m_browser->setTheme(theme);
}

void ManualWindow::openPage(const QString& page) {
  if (m_pages.empty()) {
    m_browser->setPlainText(tr("The program did not find the pages of the manual."));
    refresh();
    return;
  }
  leave();
  const QString path = page.section(QLatin1Char('#'), 0, 0);
  m_history.open(findManualPage(m_pages, path) ? page : QString::fromLatin1(kManualIndex));
  showPage(findManualPage(m_pages, path) ? page : QString::fromLatin1(kManualIndex), -1);
}

void ManualWindow::showPage(const QString& page, int scroll) {
  const QString path = page.section(QLatin1Char('#'), 0, 0);
  const QString anchor = page.section(QLatin1Char('#'), 1);
  const std::optional<std::size_t> found = findManualPage(m_pages, path);
  if (!found) return;
  if (path != m_page) m_browser->showPage(m_pages[*found]);
  m_page = path;
  if (scroll >= 0)
    m_browser->verticalScrollBar()->setValue(scroll);
  else if (anchor.isEmpty())
    m_browser->verticalScrollBar()->setValue(0);
  else
    m_browser->scrollToAnchor(anchor);
  refresh();
}

void ManualWindow::leave() {
  m_walksHits = false;
  m_history.leaveAt(m_browser->verticalScrollBar()->value());
}

void ManualWindow::goBack() {
  if (!m_history.canGoBack()) return;
  leave();
  const ManualHistory::Place& place = m_history.goBack();
  showPage(place.page, place.scroll);
}

void ManualWindow::goForward() {
  if (!m_history.canGoForward()) return;
  leave();
  const ManualHistory::Place& place = m_history.goForward();
  showPage(place.page, place.scroll);
}

void ManualWindow::search(const QString& typed) {
  const QStringList words = searchWords(typed);
  m_hits = searchManual(m_pages, typed);
  const std::size_t all = m_hits.size();
  if (m_hits.size() > kMostHits) m_hits.resize(kMostHits);
  m_contents->setVisible(words.isEmpty());
  m_found->setVisible(!words.isEmpty());
  m_count->setVisible(!words.isEmpty());
  m_count->setText(all == 0           ? tr("No page contains these words")
                   : all == 1         ? tr("1 match")
                   : all <= kMostHits ? tr("%1 matches").arg(all)
                                      : tr("First %1 of %2 matches").arg(kMostHits).arg(all));
  m_found->clear();
  for (const ManualHit& hit : m_hits) {
    const QString title = m_pages[hit.page].title;
    const QString place = hit.heading.isEmpty() || hit.heading == title || hit.heading == hit.text
                              ? title
                              : tr("%1 › %2").arg(title, hit.heading);
    const QString excerpt = excerptOf(hit.text, words, kExcerptLength);
    auto* item = new QListWidgetItem(tr("%1\n%2").arg(place, excerpt));
    item->setData(Qt::AccessibleTextRole, tr("%1: %2").arg(place, excerpt));
    item->setData(
        kHtmlRole,
        QStringLiteral("<b>%1</b><br>%2").arg(place.toHtmlEscaped(), withBoldWords(excerpt, words)));
    m_found->addItem(item);
  }
  m_browser->highlight(words);
}

/// Shows the page of a hit. The history keeps only the last hit of a series of hits.
void ManualWindow::showHit(int row) {
  if (row < 0 || std::cmp_greater_equal(row, m_hits.size())) return;
  const ManualHit& hit = m_hits[static_cast<std::size_t>(row)];
  const QString path = m_pages[hit.page].path;
  if (path != m_page) {
    if (m_walksHits) {
      m_history.change(path);
    } else {
      leave();
      m_history.open(path);
    }
    m_walksHits = true;
    showPage(path, -1);
  }
  m_browser->goTo(hit);
}

void ManualWindow::stepHit(int by) {
  if (m_hits.empty()) return;
  const int count = m_found->count();
  const int row = m_found->currentRow();
  m_found->setCurrentRow(row < 0 ? (by > 0 ? 0 : count - 1) : (row + by + count) % count);
}

/// Moves the focus from the hits to the page of the current hit, or of the first one.
void ManualWindow::readPage() {
  if (m_hits.empty()) return;
  if (m_found->currentRow() < 0) m_found->setCurrentRow(0);
  m_walksHits = false;
  m_browser->setFocus();
}

void ManualWindow::follow(const QUrl& link) {
  const QString scheme = link.scheme();
  if (scheme == QLatin1String("dock"))
    Q_EMIT dockWanted(link.path());
  else if (scheme == QLatin1String("command"))
    Q_EMIT commandWanted(link.path());
  else if (scheme == QLatin1String("example"))
    Q_EMIT exampleWanted(link.path());
  else if (scheme == QLatin1String("https") || scheme == QLatin1String("http"))
    QDesktopServices::openUrl(link);
  else if (link.path().isEmpty())
    openPage(m_page + QLatin1Char('#') + link.fragment());
  else
    openPage(resolvedManualPath(m_page, link.path()) +
             (link.hasFragment() ? QLatin1Char('#') + link.fragment() : QString()));
}

void ManualWindow::refresh() {
  m_back->setEnabled(m_history.canGoBack());
  m_forward->setEnabled(m_history.canGoForward());
  const std::optional<std::size_t> now = findManualPage(m_pages, m_page);
  m_title->setText(now ? m_pages[*now].title : QString());
  for (QTreeWidgetItemIterator item(m_contents); *item != nullptr; ++item) {
    if ((*item)->data(0, kPathRole).toString() == m_page) m_contents->setCurrentItem(*item);
  }
}

bool ManualWindow::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (watched == m_search && key == Qt::Key_Down) {
    if (!m_found->isVisible()) {
      m_contents->setFocus();
    } else if (!m_hits.empty()) {
      m_found->setFocus();
      stepHit(m_found->currentRow() < 0 ? 1 : 0);
    }
    return true;
  }
  if (watched == m_found && key == Qt::Key_Up && m_found->currentRow() <= 0) {
    m_search->setFocus();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void ManualHistory::open(const QString& page) {
  m_places.resize(m_now);
  m_places.push_back({.page = page, .scroll = 0});
  m_now = m_places.size();
}

void ManualHistory::change(const QString& page) {
  if (m_now > 0) m_places[m_now - 1] = {.page = page, .scroll = 0};
}

void ManualHistory::leaveAt(int scroll) {
  if (m_now > 0) m_places[m_now - 1].scroll = scroll;
}

const ManualHistory::Place& ManualHistory::goBack() {
  if (canGoBack()) --m_now;
  return m_places[m_now - 1];
}

const ManualHistory::Place& ManualHistory::goForward() {
  if (canGoForward()) ++m_now;
  return m_places[m_now - 1];
}

}  // namespace spanscope::ui

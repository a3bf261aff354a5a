// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/key_sheet.h"

#include "engine/base/output_file.h"
#include "ui/words/tr.h"

#include <QBuffer>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequence>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPageSize>
#include <QPdfWriter>
#include <QPrintDialog>
#include <QPrinter>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kColumns = 3;

class Sheet : public QWidget {
 public:
  Sheet(const std::vector<std::vector<KeySection>>& columns, const Theme& theme)
      : m_columns(columns), m_theme(theme) {
    setFixedSize(keySheetSize(columns, theme));
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    paintKeySheet(painter, m_columns, m_theme);
  }

 private:
  std::vector<std::vector<KeySection>> m_columns;
  Theme m_theme;
};

}  // namespace

KeySheet::KeySheet(const std::vector<CommandInfo>& table, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_columns(keySheetColumns(keySheetSections(table), kColumns)) {
  setWindowTitle(tr("Keys"));
  auto* sheet = new Sheet(m_columns, theme);
  auto* area = new QScrollArea(this);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidget(sheet);
  area->setAlignment(Qt::AlignCenter);
  area->setAccessibleName(tr("Keys"));
  // Screen readers use this text, because the sheet is painted.
  area->setAccessibleDescription(keySheetText(keySheetSections(table)));
  area->viewport()->setAutoFillBackground(true);
  QPalette surface = area->viewport()->palette();
  surface.setColor(QPalette::Window, theme.color(Role::Surface));
  area->viewport()->setPalette(surface);

  m_message = new QLabel(this);
  m_message->setFont(theme.smallFont());
  m_message->setWordWrap(true);
  auto* printButton = new QPushButton(tr("Print…"), this);
  auto* saveButton = new QPushButton(tr("Save as PDF…"), this);
  auto* closeButton = new QPushButton(tr("Close"), this);
  closeButton->setDefault(true);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(4 * kSpace, 2 * kSpace, 4 * kSpace, 3 * kSpace);
  foot->setSpacing(2 * kSpace);
  foot->addWidget(m_message, 1);
  foot->addWidget(printButton);
  foot->addWidget(saveButton);
  foot->addWidget(closeButton);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(area, 1);
  column->addLayout(foot);

  connect(printButton, &QPushButton::clicked, this, &KeySheet::print);
  connect(saveButton, &QPushButton::clicked, this, &KeySheet::save);
  connect(closeButton, &QPushButton::clicked, this, &QDialog::accept);

  constexpr int kFoot = 56;
  const QSize wanted = sheet->size() + QSize(2, kFoot);
  const QSize most = screen() == nullptr ? wanted : screen()->availableSize() * 0.9;
  resize(wanted.boundedTo(most));
  closeButton->setFocus();
}

void KeySheet::print() {
  QPrinter printer(QPrinter::HighResolution);
  printer.setPageOrientation(QPageLayout::Landscape);
  QPrintDialog dialog(&printer, this);
  if (dialog.exec() != QDialog::Accepted) return;
  const Theme paper(Scheme::Light);
  const QSizeF sheet = keySheetSize(m_columns, paper);
  QPainter painter(&printer);
  const QRectF page = painter.viewport();
  const double scale = std::min(page.width() / sheet.width(), page.height() / sheet.height());
  painter.scale(scale, scale);
  paintKeySheet(painter, m_columns, paper);
}

void KeySheet::save() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save the keys"), tr("spanscope-keys.pdf"),
                                                    tr("PDF documents (*.pdf)"));
  if (path.isEmpty()) return;
  const std::optional<Error> error = writeKeySheetPdf(path, m_columns);
  m_message->setText(error ? QString::fromStdString(error->message()) : tr("Saved as %1").arg(path));
}

namespace {

constexpr double kRowHeight = 28;
constexpr double kTitleHeight = 28;
constexpr double kSectionGap = 16;
constexpr double kMargin = 24;
constexpr double kFootHeight = 32;
constexpr double kTextWidth = 168;
constexpr double kColumnGap = 32;

double sectionHeight(const KeySection& section) {
  return kTitleHeight + kRowHeight * static_cast<double>(section.rows.size()) + kSectionGap;
}

double columnHeight(const std::vector<KeySection>& column) {
  double height = 0;
  for (const KeySection& section : column) height += sectionHeight(section);
  return height;
}

double keysWidth(const KeyRow& row, const Theme& theme) {
  double width = 0;
  for (const QString& key : row.keys) width += keyCapWidth(key, theme) + kSpace;
  return width;
}

double columnWidth(const std::vector<KeySection>& column, const Theme& theme) {
  const QFontMetricsF metrics(theme.interfaceFont());
  double width = kTextWidth;
  for (const KeySection& section : column) {
    for (const KeyRow& row : section.rows) {
      const double mark = row.onCanvas ? 16 : 0;
      width =
          std::max(width, std::ceil(metrics.horizontalAdvance(row.text)) + mark + 16 + keysWidth(row, theme));
    }
  }
  return width;
}

KeyRow keyRow(const CommandInfo& info) {
  KeyRow row{.keys = {}, .text = info.text, .onCanvas = info.scope == CommandScope::Canvas};
  for (const QString& key : info.keys) {
    const QString shown = QKeySequence(key, QKeySequence::PortableText).toString(QKeySequence::NativeText);
    if (!row.keys.contains(shown)) row.keys += shown;
  }
  return row;
}

/// Paints the small square before keys that work only on the canvas. The foot of the sheet explains the
/// square.
void paintCanvasMark(QPainter& painter, double left, double middle, const Theme& theme) {
  painter.setPen(QPen(theme.color(Role::TextThird), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(left + 0.5, middle - 3.5, 7, 7));
}

}  // namespace

std::vector<KeySection> keySheetSections(const std::vector<CommandInfo>& table) {
  std::vector<KeySection> sections;
  for (const CommandCategory category : kCommandCategories) {
    KeySection section{.title = categoryTitle(category), .rows = {}};
    for (const CommandInfo& info : table) {
      if (info.category == category && !info.keys.isEmpty()) section.rows.push_back(keyRow(info));
    }
    if (!section.rows.empty()) sections.push_back(std::move(section));
  }
  sections.push_back({.title = tr("Canvas"),
                      .rows = {{{tr("Arrow keys")}, tr("Go to parent, child, sibling"), true},
                               {{tr("Esc")}, tr("Cancel the gesture, clear the selection"), true},
                               {{tr("Space + drag")}, tr("Move the view"), true},
                               {{tr("Wheel")}, tr("Move the view; with Shift sideways"), true},
                               {{tr("Ctrl + wheel")}, tr("Zoom at the pointer"), true}}});
  return sections;
}

std::vector<std::vector<KeySection>> keySheetColumns(std::vector<KeySection> sections, int columns) {
  // Each section goes into the shortest column, tallest section first. Then each column is sorted in the
  // order of the menus.
  std::vector<std::size_t> order(sections.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&sections](std::size_t a, std::size_t b) {
    return sections[a].rows.size() > sections[b].rows.size();
  });
  const auto count = static_cast<std::size_t>(std::max(1, columns));
  std::vector<std::vector<std::size_t>> places(count);
  std::vector<double> heights(count, 0);
  for (const std::size_t section : order) {
    const auto lowest = std::min_element(heights.begin(), heights.end());
    places[static_cast<std::size_t>(lowest - heights.begin())].push_back(section);
    *lowest += sectionHeight(sections[section]);
  }
  for (std::vector<std::size_t>& column : places) std::sort(column.begin(), column.end());
  std::erase_if(places, [](const auto& column) { return column.empty(); });
  std::sort(places.begin(), places.end());
  std::vector<std::vector<KeySection>> result(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const std::size_t section : places[i]) result[i].push_back(std::move(sections[section]));
  }
  return result;
}

QSize keySheetSize(const std::vector<std::vector<KeySection>>& columns, const Theme& theme) {
  double width = 2 * kMargin;
  double height = 0;
  for (const auto& column : columns) {
    width += columnWidth(column, theme) + kColumnGap;
    height = std::max(height, columnHeight(column));
  }
  return {static_cast<int>(std::ceil(width - kColumnGap)),
          static_cast<int>(std::ceil(height - kSectionGap + 2 * kMargin + kFootHeight))};
}

void paintKeySheet(QPainter& painter, const std::vector<std::vector<KeySection>>& columns,
                   const Theme& theme) {
  const QSize size = keySheetSize(columns, theme);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRect(QPoint(), size), theme.color(Role::Surface));
  double left = kMargin;
  for (const auto& column : columns) {
    const double width = columnWidth(column, theme);
    double top = kMargin;
    for (const KeySection& section : column) {
      painter.setFont(theme.titleFont());
      painter.setPen(theme.color(Role::Text));
      painter.drawText(QRectF(left, top, width, kTitleHeight - 8), Qt::AlignLeft | Qt::AlignVCenter,
                       section.title);
      double line = top + kTitleHeight;
      for (const KeyRow& row : section.rows) {
        painter.setPen(QPen(theme.color(Role::Line), 1));
        painter.drawLine(QPointF(left, line + 0.5), QPointF(left + width, line + 0.5));
        const double middle = line + kRowHeight / 2;
        double textLeft = left;
        if (row.onCanvas) {
          paintCanvasMark(painter, left, middle, theme);
          textLeft += 16;
        }
        painter.setFont(theme.interfaceFont());
        painter.setPen(theme.color(Role::Text));
        painter.drawText(QRectF(textLeft, line, width, kRowHeight), Qt::AlignLeft | Qt::AlignVCenter,
                         row.text);
        double keyLeft = left + width - keysWidth(row, theme) + kSpace;
        for (const QString& key : row.keys) {
          paintKeyCap(painter, keyLeft, middle, key, theme);
          keyLeft += keyCapWidth(key, theme) + kSpace;
        }
        line += kRowHeight;
      }
      top = line + kSectionGap;
    }
    left += width + kColumnGap;
  }
  const double foot = size.height() - kMargin - 8;
  paintCanvasMark(painter, kMargin, foot, theme);
  painter.setFont(theme.smallFont());
  painter.setPen(theme.color(Role::TextSecond));
  painter.drawText(QRectF(kMargin + 16, foot - 12, size.width(), 24), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("only while the canvas has the focus; in a text field, plain keys edit the text"));
  painter.restore();
}

QString keySheetText(const std::vector<KeySection>& sections) {
  QString text;
  for (const KeySection& section : sections) {
    text += section.title + QLatin1Char('\n');
    for (const KeyRow& row : section.rows) {
      text += QStringLiteral("%1: %2\n").arg(row.text, row.keys.join(QStringLiteral(", ")));
    }
  }
  return text;
}

std::optional<Error> writeKeySheetPdf(const QString& path,
                                      const std::vector<std::vector<KeySection>>& columns) {
  const Theme theme(Scheme::Light);  // for paper
  const QSize size = keySheetSize(columns, theme);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    constexpr int kDotsPerInch = 96;
    QPdfWriter writer(&buffer);
    writer.setTitle(tr("Keys of Spanscope"));
    writer.setResolution(kDotsPerInch);
    writer.setPageSize(QPageSize(QSizeF(size) * 72.0 / kDotsPerInch, QPageSize::Point));
    writer.setPageMargins(QMarginsF());
    QPainter painter(&writer);
    paintKeySheet(painter, columns, theme);
  }
  return writeFile(path.toStdString(), {bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

double keyCapWidth(const QString& key, const Theme& theme) {
  return std::max(kKeyCapHeight, std::ceil(QFontMetricsF(theme.monoFont()).horizontalAdvance(key)) + 12);
}

void paintKeyCap(QPainter& painter, double left, double middle, const QString& key, const Theme& theme) {
  const QRectF cap(left, middle - kKeyCapHeight / 2, keyCapWidth(key, theme), kKeyCapHeight);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.color(Role::Outline), 1));
  painter.setBrush(theme.color(Role::Canvas));
  painter.drawRoundedRect(cap.adjusted(0.5, 0.5, -0.5, -0.5), kSpace, kSpace);
  painter.setFont(theme.monoFont());
  painter.setPen(theme.color(Role::TextSecond));
  painter.drawText(cap, Qt::AlignCenter, key);
  painter.restore();
}

namespace {

enum Column { Name, Keys, Where, ColumnCount };
constexpr QSize kSize(640, 560);
constexpr int kNameWidth = 260;
constexpr int kKeysWidth = 220;

QString shown(const QStringList& keys) {
  QStringList words;
  for (const QString& key : keys)
    words << QKeySequence(key, QKeySequence::PortableText).toString(QKeySequence::NativeText);
  return words.join(QStringLiteral(", "));
}

}  // namespace

KeyEditor::KeyEditor(const KeyBindings& keys, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_keys(keys) {
  setWindowTitle(tr("Change keys"));
  m_search = new QLineEdit(this);
  m_search->setPlaceholderText(tr("Find a command or a key"));
  m_search->setAccessibleName(tr("Find a command or a key"));
  m_search->setClearButtonEnabled(true);
  connect(m_search, &QLineEdit::textChanged, this, &KeyEditor::filter);

  m_table = new QTreeWidget(this);
  m_table->setColumnCount(ColumnCount);
  m_table->setHeaderLabels({tr("Command"), tr("Keys"), tr("Where")});
  m_table->setRootIsDecorated(false);
  m_table->setUniformRowHeights(true);
  m_table->setAccessibleName(tr("Commands and their keys"));
  m_table->setColumnWidth(Name, kNameWidth);
  m_table->setColumnWidth(Keys, kKeysWidth);
  connect(m_table, &QTreeWidget::currentItemChanged, this, &KeyEditor::showCurrent);

  m_name = new QLabel(this);
  m_name->setFont(theme.titleFont());
  m_key = new QKeySequenceEdit(this);
  m_key->setAccessibleName(tr("Press the new key"));
  m_key->setToolTip(tr("Click here and press the new key of the command"));
  connect(m_key, &QKeySequenceEdit::keySequenceChanged, this, &KeyEditor::showKey);
  m_assign = new QPushButton(tr("Assign key"), this);
  m_clear = new QPushButton(tr("Remove keys"), this);
  m_clear->setToolTip(tr("Remove all keys of the command"));
  m_reset = new QPushButton(tr(/*id:reset-keys*/ "Reset keys"), this);
  m_reset->setToolTip(tr("Restore the default keys of the command"));
  m_resetAll = new QPushButton(tr("Reset all keys"), this);
  m_message = new QLabel(this);
  m_message->setFont(theme.smallFont());
  m_message->setWordWrap(true);
  m_message->setMinimumHeight(2 * QFontMetrics(theme.smallFont()).height());
  m_message->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  auto* saveButton = new QPushButton(tr("Save keys"), this);
  saveButton->setObjectName(QStringLiteral("primary"));
  auto* cancel = new QPushButton(tr("Cancel"), this);
  for (QPushButton* button : {m_assign, m_clear, m_reset, m_resetAll, saveButton, cancel})
    button->setAutoDefault(false);

  connect(m_assign, &QPushButton::clicked, this, [this] {
    const CommandInfo* info = current();
    if (info == nullptr || m_key->keySequence().isEmpty()) return;
    m_keys.assign(*info, m_key->keySequence().toString(QKeySequence::PortableText));
    keysChanged();
  });
  connect(m_clear, &QPushButton::clicked, this, [this] {
    const CommandInfo* info = current();
    if (info == nullptr) return;
    m_keys.set(*info, {});
    keysChanged();
  });
  connect(m_reset, &QPushButton::clicked, this, [this] {
    const CommandInfo* info = current();
    if (info == nullptr) return;
    // Other commands that have the default keys now lose them.
    m_keys.set(*info, {});
    for (const QString& key : info->keys) m_keys.assign(*info, key);
    keysChanged();
  });
  connect(m_resetAll, &QPushButton::clicked, this, [this] {
    m_keys.resetAll();
    keysChanged();
  });
  connect(saveButton, &QPushButton::clicked, this, &QDialog::accept);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);

  auto* edit = new QHBoxLayout;
  edit->setSpacing(2 * kSpace);
  edit->addWidget(m_key, 1);
  edit->addWidget(m_assign);
  edit->addWidget(m_clear);
  edit->addWidget(m_reset);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addWidget(m_resetAll);
  foot->addStretch(1);
  foot->addWidget(cancel);
  foot->addWidget(saveButton);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(2 * kSpace);
  column->addWidget(m_search);
  column->addWidget(m_table, 1);
  column->addWidget(m_name);
  column->addLayout(edit);
  column->addWidget(m_message);
  column->addLayout(foot);
  resize(kSize);
  fill();
  m_table->setCurrentItem(m_table->topLevelItem(0));
  m_search->setFocus();
}

const CommandInfo* KeyEditor::current() const {
  const QTreeWidgetItem* row = m_table->currentItem();
  return row == nullptr ? nullptr : findCommand(row->data(Name, Qt::UserRole).toString());
}

void KeyEditor::fill() {
  for (const CommandCategory category : kCommandCategories) {
    for (const CommandInfo& info : commandTable()) {
      if (info.category == category) fillRow(new QTreeWidgetItem(m_table), info);
    }
  }
}

void KeyEditor::fillRow(QTreeWidgetItem* row, const CommandInfo& info) {
  row->setData(Name, Qt::UserRole, info.id);
  row->setText(Name, tr("%1: %2").arg(categoryTitle(info.category), info.text));
  row->setToolTip(Name, info.help);
  row->setText(Keys, shown(m_keys.keys(info)) + (m_keys.isChanged(info) ? tr("  (changed)") : QString()));
  row->setText(Where, info.scope == CommandScope::Canvas ? tr("on the canvas") : tr("everywhere"));
}

void KeyEditor::filter(const QString& words) {
  for (int i = 0; i < m_table->topLevelItemCount(); ++i) {
    QTreeWidgetItem* row = m_table->topLevelItem(i);
    row->setHidden(!row->text(Name).contains(words, Qt::CaseInsensitive) &&
                   !row->text(Keys).contains(words, Qt::CaseInsensitive));
  }
}

void KeyEditor::showCurrent() {
  const CommandInfo* info = current();
  m_name->setText(info == nullptr ? QString() : tr("%1 — %2").arg(info->text, info->help));
  m_key->clear();
  showKey();
}

void KeyEditor::showKey() {
  const CommandInfo* info = current();
  const QString key = m_key->keySequence().toString(QKeySequence::PortableText);
  m_clear->setEnabled(info != nullptr && !m_keys.keys(*info).isEmpty());
  m_reset->setEnabled(info != nullptr && m_keys.isChanged(*info));
  m_resetAll->setEnabled(m_keys.isAnyChanged());
  m_assign->setText(tr("Assign key"));
  m_assign->setEnabled(info != nullptr && !key.isEmpty());
  m_message->clear();
  if (info == nullptr || key.isEmpty()) return;
  const QString name = m_key->keySequence().toString(QKeySequence::NativeText);
  if (const QString use = fixedUseOf(key); !use.isEmpty()) {
    m_message->setText(tr("%1 cannot be assigned, because it %2.").arg(name, use));
    m_assign->setEnabled(false);
    return;
  }
  QStringList taken;
  for (const CommandInfo* other : m_keys.conflicts(*info, key)) taken << tr("“%1”").arg(other->text);
  if (taken.isEmpty()) return;
  m_message->setText(tr("This key, or a key sequence that begins with this key, belongs to %1. If you "
                        "reassign the key, Spanscope removes the earlier assignment.")
                         .arg(taken.join(tr(", "))));
  m_assign->setText(tr("Reassign key"));
}

void KeyEditor::keysChanged() {
  for (int i = 0; i < m_table->topLevelItemCount(); ++i) {
    QTreeWidgetItem* row = m_table->topLevelItem(i);
    fillRow(row, *findCommand(row->data(Name, Qt::UserRole).toString()));
  }
  m_key->clear();
  showKey();
}

}  // namespace spanscope::ui

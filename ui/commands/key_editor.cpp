// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/key_editor.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace spanscope::ui {
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
  m_message->setText(tr("%1 uses this key, or a key sequence that begins with this key. If you assign the "
                        "key here, Spanscope removes the key there.")
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

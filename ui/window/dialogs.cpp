// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dialogs.h"

#include "engine/base/difference.h"

#include <QClipboard>
#include <QComboBox>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMetaObject>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QSysInfo>
#include <QTextBlock>
#include <QTextCursor>
#include <QVBoxLayout>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::ui {

namespace {

QString compiler() {
#if defined(__clang__)
  return QStringLiteral("Clang " __clang_version__);
#elif defined(__GNUC__)
  return QStringLiteral("GCC " __VERSION__);
#else
  return {};
#endif
}

}  // namespace

std::vector<AboutFact> aboutFacts(const QString& device) {
  std::vector<AboutFact> facts;
  const auto add = [&facts](const QString& name, const QString& value) {
    if (!value.isEmpty()) facts.push_back({name, value});
  };
  add(AboutBox::tr("Spanscope"), QStringLiteral(SPANSCOPE_VERSION));
  add(AboutBox::tr("Device"), device.isEmpty() ? AboutBox::tr("no model is loaded") : device);
  add(AboutBox::tr("Qt"), QLatin1String(qVersion()));
  add(AboutBox::tr("Compiler"), compiler());
  add(AboutBox::tr("Highway"), QStringLiteral(SPANSCOPE_HIGHWAY_VERSION));
  add(AboutBox::tr("System"),
      QStringLiteral("%1, %2").arg(QSysInfo::prettyProductName(), QSysInfo::currentCpuArchitecture()));
  return facts;
}

AboutBox::AboutBox(const QString& device, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_facts(aboutFacts(device)) {
  setWindowTitle(tr("About Spanscope"));
  auto* title = new QLabel(tr("Spanscope"), this);
  QFont large = theme.interfaceFont();
  large.setPixelSize(20);
  large.setWeight(QFont::DemiBold);
  title->setFont(large);
  auto* sentence = new QLabel(
      tr("A workbench to write span queries, see how the queries run on a KV cache, and export the queries."),
      this);
  sentence->setWordWrap(true);

  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(6 * kSpace);
  grid->setVerticalSpacing(kSpace);
  grid->setColumnStretch(1, 1);
  int row = 0;
  for (const AboutFact& fact : m_facts) {
    auto* name = new QLabel(fact.name, this);
    name->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextSecond).name()));
    auto* value = new QLabel(fact.value, this);
    value->setFont(theme.monoFont());
    value->setWordWrap(true);
    value->setTextFormat(Qt::PlainText);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    value->setAccessibleName(fact.name);
    grid->addWidget(name, row, 0, Qt::AlignLeft | Qt::AlignTop);
    grid->addWidget(value, row, 1);
    ++row;
  }

  auto* licence = new QLabel(tr("Free software under the GNU General Public License, version 3 or later. "
                                "Spanscope comes without any warranty. "
                                "The bundled model is in the public domain (CC0)."),
                             this);
  licence->setWordWrap(true);
  licence->setFont(theme.smallFont());
  licence->setStyleSheet(QStringLiteral("color: %1").arg(theme.color(Role::TextThird).name()));

  auto* copyButton = new QPushButton(tr("&Copy versions"), this);
  copyButton->setToolTip(tr("Copy the versions as text, for a report"));
  auto* closeButton = new QPushButton(tr("Close"), this);
  closeButton->setDefault(true);
  connect(copyButton, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text()); });
  connect(closeButton, &QPushButton::clicked, this, &QDialog::accept);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch();
  foot->addWidget(copyButton);
  foot->addWidget(closeButton);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6 * kSpace, 6 * kSpace, 6 * kSpace, 4 * kSpace);
  column->setSpacing(0);
  column->addWidget(title);
  column->addSpacing(kSpace);
  column->addWidget(sentence);
  column->addSpacing(5 * kSpace);
  column->addLayout(grid);
  column->addSpacing(5 * kSpace);
  column->addWidget(licence);
  column->addSpacing(4 * kSpace);
  column->addStretch();
  column->addLayout(foot);
  resize(460, sizeHint().height());
  closeButton->setFocus();
}

QString AboutBox::text() const {
  QString lines;
  for (const AboutFact& fact : m_facts) lines += QStringLiteral("%1: %2\n").arg(fact.name, fact.value);
  return lines;
}

namespace {

constexpr int kWidth = 520;
constexpr int kItemHeight = 48;

/// A dialog with a question, an explanation, a list and buttons.
void layOutQuestion(QDialog& dialog, const QString& question, const QString& explanation, const Theme& theme,
                    QListWidget& list, const std::vector<QPushButton*>& buttons) {
  auto* head = new QLabel(question, &dialog);
  head->setFont(theme.titleFont());
  head->setTextFormat(Qt::PlainText);
  head->setWordWrap(true);
  auto* help = new QLabel(explanation, &dialog);
  help->setWordWrap(true);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch(1);
  for (QPushButton* button : buttons) foot->addWidget(button);
  auto* column = new QVBoxLayout(&dialog);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(help);
  column->addWidget(&list, 1);
  column->addLayout(foot);
  dialog.resize(kWidth, dialog.sizeHint().height());
  list.setCurrentRow(0);
  list.setFocus();
}

/// Makes a list high enough for its rows, but at most for `most` rows.
void fitRows(QListWidget& list, int most, int rowHeight) {
  list.setMinimumHeight(rowHeight * std::clamp(list.count(), 1, most) + 2 * list.frameWidth() + kSpace);
}

}  // namespace

ChecklistDialog::ChecklistDialog(const QString& title, const QString& question, const QString& explanation,
                                 const std::vector<Item>& items, const std::vector<Choice>& choices,
                                 const QString& cancelText, const Theme& theme, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(title);
  m_list = new QListWidget(this);
  m_list->setAccessibleName(question);
  m_list->setAlternatingRowColors(false);
  m_list->setWordWrap(false);
  m_list->setTextElideMode(Qt::ElideMiddle);
  for (const Item& item : items) {
    auto* row = new QListWidgetItem(item.title + QLatin1Char('\n') + item.detail, m_list);
    row->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    row->setCheckState(Qt::Checked);
    row->setToolTip(item.detail);
    row->setSizeHint(QSize(0, kItemHeight));
  }
  fitRows(*m_list, 8, kItemHeight);
  connect(m_list, &QListWidget::itemChanged, this, &ChecklistDialog::updateButtons);

  auto* cancel = new QPushButton(cancelText, this);
  cancel->setAutoDefault(false);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  std::vector<QPushButton*> buttons{cancel};
  for (const Choice& choice : choices) {
    auto* button = new QPushButton(choice.text, this);
    button->setAutoDefault(false);
    if (choice.isDefault) {
      button->setObjectName(QStringLiteral("primary"));
      button->setDefault(true);
    }
    if (choice.needsChecked) m_needChecked.push_back(button);
    connect(button, &QPushButton::clicked, this, [this, id = choice.id] {
      m_choice = id;
      accept();
    });
    buttons.push_back(button);
  }
  layOutQuestion(*this, question, explanation, theme, *m_list, buttons);
}

std::vector<std::size_t> ChecklistDialog::checked() const {
  std::vector<std::size_t> rows;
  for (int row = 0; row < m_list->count(); ++row) {
    if (m_list->item(row)->checkState() == Qt::Checked) rows.push_back(static_cast<std::size_t>(row));
  }
  return rows;
}

void ChecklistDialog::updateButtons() {
  const bool any = !checked().empty();
  for (QPushButton* button : m_needChecked) button->setEnabled(any);
}

std::vector<DiffLine> diffLines(const QStringList& before, const QStringList& after) {
  const auto at = [](const QStringList& lines, std::size_t index) -> const QString& {
    return lines[static_cast<qsizetype>(index)];
  };
  std::vector<DiffLine> lines;
  for (const DifferenceStep& step :
       differenceOf(static_cast<std::size_t>(before.size()), static_cast<std::size_t>(after.size()),
                    [&](std::size_t i, std::size_t j) { return at(before, i) == at(after, j); })) {
    switch (step.on) {
      case StandsOn::Both:
        lines.push_back({LineChange::Same, at(before, step.left)});
        break;
      case StandsOn::Left:
        lines.push_back({LineChange::Removed, at(before, step.left)});
        break;
      case StandsOn::Right:
        lines.push_back({LineChange::Added, at(after, step.right)});
        break;
    }
  }
  return lines;
}

namespace {

constexpr std::size_t kAround = 3;
constexpr QSize kDifferenceSize(760, 520);

QChar signOf(LineChange change) {
  switch (change) {
    case LineChange::Removed:
      return QLatin1Char('-');
    case LineChange::Added:
      return QLatin1Char('+');
    case LineChange::Same:
      break;
  }
  return QLatin1Char(' ');
}

QTextBlockFormat formatOf(LineChange change, const Theme& theme) {
  QTextBlockFormat format;
  if (change == LineChange::Removed) format.setBackground(theme.color(Role::ErrorFill));
  if (change == LineChange::Added) format.setBackground(theme.color(Role::HitFill));
  return format;
}

}  // namespace

std::vector<DiffLine> withoutDistantLines(const std::vector<DiffLine>& lines, std::size_t around) {
  std::vector<bool> isNear(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].change == LineChange::Same) continue;
    const std::size_t end = std::min(lines.size(), i + around + 1);
    for (std::size_t near = i - std::min(i, around); near < end; ++near) isNear[near] = true;
  }
  std::vector<DiffLine> result;
  bool isLeftOut = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (isNear[i]) {
      result.push_back(lines[i]);
    } else if (!isLeftOut) {
      result.push_back({LineChange::Same, QStringLiteral("…")});
    }
    isLeftOut = !isNear[i];
  }
  return result;
}

DifferenceDialog::DifferenceDialog(const QString& title, const QString& sentence, const QString& before,
                                   const QString& after, const Theme& theme, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(title);
  auto* head = new QLabel(sentence, this);
  head->setWordWrap(true);
  auto* text = new QPlainTextEdit(this);
  text->setReadOnly(true);
  text->setFont(theme.monoFont());
  text->setLineWrapMode(QPlainTextEdit::NoWrap);
  text->setAccessibleName(title);
  const std::vector<DiffLine> lines = withoutDistantLines(
      diffLines(before.split(QLatin1Char('\n')), after.split(QLatin1Char('\n'))), kAround);
  QTextCursor cursor(text->document());
  int firstChange = -1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) cursor.insertBlock();
    cursor.setBlockFormat(formatOf(lines[i].change, theme));
    cursor.insertText(QString(signOf(lines[i].change)) + QLatin1Char(' ') + lines[i].text);
    if (firstChange < 0 && lines[i].change != LineChange::Same) firstChange = static_cast<int>(i);
  }
  const bool isSame = firstChange < 0;
  if (isSame) text->setPlainText(tr("The contents are the same."));
  text->setTextCursor(QTextCursor(text->document()->findBlockByNumber(std::max(0, firstChange))));

  auto* closeButton = new QPushButton(tr("Close"), this);
  closeButton->setDefault(true);
  connect(closeButton, &QPushButton::clicked, this, &QDialog::accept);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(text, 1);
  column->addWidget(closeButton, 0, Qt::AlignRight);
  resize(kDifferenceSize);
}

namespace {

constexpr int kServerRole = Qt::UserRole;

}  // namespace

LessonServerDialog::LessonServerDialog(const std::vector<workbench::NamedServer>& servers,
                                       const std::string& wanted, const Theme& theme, QWidget* parent)
    : QDialog(parent), m_list(new QListWidget(this)) {
  setWindowTitle(tr("Run this lesson on…"));
  m_list->setObjectName(QStringLiteral("lessonServers"));
  m_list->setAccessibleName(tr("Where to run this lesson"));
  m_list->setTextElideMode(Qt::ElideMiddle);
  const auto add = [this](const QString& title, const QString& detail, const std::string& name) {
    auto* row = new QListWidgetItem(title + QLatin1Char('\n') + detail, m_list);
    row->setData(kServerRole, QString::fromStdString(name));
    row->setToolTip(detail);
  };
  add(tr("The embedded engine"), tr("This computer"), {});
  for (const workbench::NamedServer& server : servers)
    add(QString::fromStdString(server.name), QString::fromStdString(server.url), server.name);
  m_list->setCurrentRow(0);
  fitRows(*m_list, 6, m_list->sizeHintForRow(0));
  connect(m_list, &QListWidget::itemActivated, this, &QDialog::accept);

  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAutoDefault(false);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  auto* choose = new QPushButton(this);
  choose->setObjectName(QStringLiteral("primary"));
  choose->setDefault(true);
  connect(choose, &QPushButton::clicked, this, &QDialog::accept);
  // The button has the name of the server, so that users do not send texts there by habit.
  const auto nameButton = [this, choose] {
    const QString name = QString::fromStdString(server());
    choose->setText(name.isEmpty()
                        ? tr("Run here")
                        : tr("Send to %1").arg(fontMetrics().elidedText(name, Qt::ElideMiddle, kWidth / 2)));
  };
  connect(m_list, &QListWidget::currentRowChanged, this, nameButton);
  nameButton();
  layOutQuestion(
      *this,
      wanted.empty() ? tr("Where should this lesson run?")
                     : tr("The query is set to run on the server “%1”. Where should this lesson run?")
                           .arg(QString::fromStdString(wanted)),
      tr("The embedded engine sends no texts. A server gets the texts of the lesson's queries. Your "
         "choice is valid until you leave the lesson."),
      theme, *m_list, {cancel, choose});
}

std::string LessonServerDialog::server() const {
  const QListWidgetItem* item = m_list->currentItem();
  return item == nullptr ? std::string() : item->data(kServerRole).toString().toStdString();
}

namespace {

constexpr QSize kTemplateSize(920, 560);
constexpr const char* kOwn = "auto";

QPlainTextEdit* makeText(const QString& name, const Theme& theme, QWidget* parent) {
  auto* text = new QPlainTextEdit(parent);
  text->setReadOnly(true);
  text->setFont(theme.monoFont());
  text->setAccessibleName(name);
  text->setTabChangesFocus(true);
  return text;
}

/// The facts about the checkpoint's own template, as sentences.
QString saidOf(const workbench::TemplateFacts& facts, const QString& model) {
  if (facts.found) {
    const QString name = QString::fromStdString(facts.found->chat->name);
    switch (facts.found->match) {
      case text::TemplateMatch::Fingerprint:
      case text::TemplateMatch::Rendering:
        return TemplateDialog::tr("%1 uses the known template “%2”.").arg(model, name);
      case text::TemplateMatch::Jinja:
        return TemplateDialog::tr("Jinja renders the template of %1.").arg(model);
      case text::TemplateMatch::Markers:
        break;
    }
    return TemplateDialog::tr(
               "%1 uses the template “%2”. Spanscope recognized some parts of this template. The other "
               "parts are unknown.")
        .arg(model, name);
  }
  if (facts.source) {
    return TemplateDialog::tr(
               "Spanscope cannot use the template of %1: %2. Choose a template that formats messages in the "
               "same way. The example on the right shows the result.")
        .arg(model, QString::fromStdString(facts.problem));
  }
  return TemplateDialog::tr("%1 has no readable template: %2. Choose a template.")
      .arg(model, QString::fromStdString(facts.problem));
}

/// A conversation in the template, or the reason why the template refuses it.
QString sampleOf(const text::ChatTemplate& chat) {
  try {
    return QString::fromStdString(workbench::sampleConversation(chat));
  } catch (const Failure& failure) {
    return QString::fromStdString(failure.error().message());
  }
}

}  // namespace

TemplateDialog::TemplateDialog(const std::string& checkpoint, const QString& modelName, std::string chosen,
                               const Theme& theme, QWidget* parent)
    : QDialog(parent), m_model(modelName), m_chosen(std::move(chosen)) {
  setWindowTitle(tr("Chat template"));
  auto* head = new QLabel(tr("Chat template for %1").arg(modelName), this);
  head->setFont(theme.titleFont());
  m_says = new QLabel(tr("Reading the model…"), this);
  m_says->setWordWrap(true);

  m_choices = new QComboBox(this);
  m_choices->setAccessibleName(tr("Chat template"));
  m_choices->setObjectName(QStringLiteral("templates"));
  m_choices->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_choices->setEnabled(false);
  auto* choiceTitle = new QLabel(tr("&Chat template"), this);
  choiceTitle->setBuddy(m_choices);
  auto* choiceRow = new QHBoxLayout;
  choiceRow->setSpacing(2 * kSpace);
  choiceRow->addWidget(choiceTitle);
  choiceRow->addWidget(m_choices);
  m_remark = new QLabel(this);
  m_remark->setWordWrap(true);
  choiceRow->addWidget(m_remark, 1);

  m_own = makeText(tr("The template of the checkpoint"), theme, this);
  m_ownTitle = new QLabel(tr("The template of the checkpoint"), this);
  m_sample = makeText(tr("A conversation in the chosen template"), theme, this);
  auto* sampleTitle = new QLabel(tr("A conversation in the chosen template"), this);
  auto* texts = new QGridLayout;
  texts->setHorizontalSpacing(3 * kSpace);
  texts->setVerticalSpacing(kSpace);
  texts->addWidget(m_ownTitle, 0, 0);
  texts->addWidget(sampleTitle, 0, 1);
  texts->addWidget(m_own, 1, 0);
  texts->addWidget(m_sample, 1, 1);
  texts->setColumnStretch(0, 1);
  texts->setColumnStretch(1, 1);

  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch(1);
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAutoDefault(false);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  foot->addWidget(cancel);
  m_use = new QPushButton(tr("Use template"), this);
  m_use->setObjectName(QStringLiteral("primary"));
  m_use->setDefault(true);
  m_use->setEnabled(false);
  connect(m_use, &QPushButton::clicked, this, &QDialog::accept);
  foot->addWidget(m_use);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(m_says);
  column->addLayout(choiceRow);
  column->addLayout(texts, 1);
  column->addLayout(foot);
  resize(kTemplateSize);
  connect(m_choices, &QComboBox::currentIndexChanged, this, &TemplateDialog::showChoice);

  m_thread.post([this, checkpoint] {
    auto facts = std::make_shared<const workbench::TemplateFacts>(workbench::templateFacts(checkpoint));
    QMetaObject::invokeMethod(
        this, [this, facts = std::move(facts)]() mutable { show(std::move(facts)); }, Qt::QueuedConnection);
  });
}

TemplateDialog::~TemplateDialog() = default;

std::string TemplateDialog::chosen() const {
  return isRead() ? m_choices->currentData().toString().toStdString() : m_chosen;
}

void TemplateDialog::show(std::shared_ptr<const workbench::TemplateFacts> facts) {
  m_facts = std::move(facts);
  m_says->setText(saidOf(*m_facts, m_model));
  const bool hasSource = m_facts->source.has_value();
  m_own->setPlainText(hasSource ? QString::fromStdString(m_facts->source->text) : QString());
  if (!hasSource) m_own->setPlaceholderText(tr("none"));
  fillChoices();
  m_choices->setEnabled(true);
  m_choices->setFocus();
  showChoice();
  Q_EMIT read();
}

/// The checkpoint's own template comes first, if it is known. Then come the templates that the tokenizer can
/// write.
void TemplateDialog::fillChoices() {
  const QSignalBlocker blocker(m_choices);
  m_choices->clear();
  if (m_facts->found) {
    m_choices->addItem(tr(/*id:model-own-template*/ "model's own (%1)")
                           .arg(QString::fromStdString(m_facts->found->chat->name)),
                       QString::fromLatin1(kOwn));
  }
  bool didFit = true;
  for (const workbench::TemplateCandidate& candidate : m_facts->candidates) {
    const QString name = QString::fromStdString(candidate.chat->name);
    const bool fits = candidate.missingPiece.empty();
    if (std::exchange(didFit, fits) != fits && m_choices->count() > 0)
      m_choices->insertSeparator(m_choices->count());
    m_choices->addItem(name, name);
  }
  const int current = m_choices->findData(QString::fromStdString(m_chosen));
  m_choices->setCurrentIndex(std::max(0, current));
}

void TemplateDialog::showChoice() {
  if (!isRead()) return;
  const std::string name = chosen();
  const text::ChatTemplate* chat = m_facts->found && name == kOwn ? m_facts->found->chat : nullptr;
  QString remark;
  bool canBeWritten = chat != nullptr;
  for (const workbench::TemplateCandidate& candidate : m_facts->candidates) {
    if (candidate.chat->name != name) continue;
    chat = candidate.chat;
    canBeWritten = candidate.missingPiece.empty();
    if (!canBeWritten) {
      remark = tr("This model cannot use the template: its tokenizer has no token “%1”.")
                   .arg(QString::fromStdString(candidate.missingPiece));
    } else if (candidate.isSpelled && !m_facts->found) {
      remark = tr("The model's own template has all tokens of this template.");
    }
  }
  m_remark->setText(remark);
  m_sample->setPlainText(chat == nullptr ? QString() : sampleOf(*chat));
  m_use->setEnabled(canBeWritten);
}

}  // namespace spanscope::ui

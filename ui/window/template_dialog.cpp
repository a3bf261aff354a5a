// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/template_dialog.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMetaObject>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr QSize kSize(920, 560);
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
  resize(kSize);
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

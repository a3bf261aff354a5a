// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/top_bar.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/jobs/probe.h"
#include "engine/policy/policies.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"
#include "ui/commands/command_table.h"
#include "ui/session/measured_jobs.h"
#include "ui/session/model_choices.h"
#include "ui/views/common/choices.h"
#include "ui/window/workspace.h"
#include "ui/words/glossary.h"
#include "ui/words/table_words.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QScreen>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::ui {
namespace {

constexpr int kHeight = 44;  // pixels
constexpr int kBarGap = 8;
constexpr int kLeastTabs = 190;  // pixels, for the shown tab with its buttons
constexpr int kLeastText = 44;   // pixels of the name of a model or a policy
const QString kOpens = QStringLiteral(" ▾");

QString countText(double parameters) {
  if (parameters >= 1e9) return TopBar::tr("%1 G").arg(parameters / 1e9, 0, 'f', 1);
  if (parameters >= 1e6) return TopBar::tr("%1 M").arg(parameters / 1e6, 0, 'f', 1);
  return TopBar::tr("%1 k").arg(parameters / 1e3, 0, 'f', 0);
}

/// Moves an open menu back onto the screen after it has grown.
void keepOnScreen(QMenu& menu) {
  const QRect room = menu.screen()->availableGeometry();
  QRect place(menu.pos(), menu.sizeHint());
  place.moveRight(std::min(place.right(), room.right()));
  place.moveBottom(std::min(place.bottom(), room.bottom()));
  place.moveTopLeft({std::max(place.left(), room.left()), std::max(place.top(), room.top())});
  menu.setGeometry(place);
}

/// Escapes "&", which menus and buttons take as the mark of a key.
QString plain(QString text) {
  return text.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

/// The title of the server on which a document runs.
QString serverText(const Workspace& workspace, const document::RunSettings& settings) {
  return plain(workspace.serverRuns().serverTitle(settings.server));
}

/// The name of the model that the next run of the current document uses, in memory or not.
QString modelText(const Workspace& workspace, const EngineHost& engine, bool isNarrow) {
  const LoadedModel& loaded = engine.model();
  const OpenDocument* current = workspace.current();
  QString name = loaded.name;
  bool isLoaded = !name.isEmpty();
  if (current != nullptr) {
    const document::RunSettings& settings = current->model->document().settings;
    if (!current->source->takesRuns()) {
      const QString other = plain(QString::fromStdString(checkpoint::Checkpoint(settings.model).name()));
      return other.isEmpty() ? TopBar::tr("recorded") : TopBar::tr("%1 · recorded").arg(other);
    }
    if (settings.runsOnServer()) return serverText(workspace, settings);
    name = QString::fromStdString(workbench::modelNameOf(settings));
    // The name includes the adapter, because the adapter is loaded with the model.
    isLoaded = isLoaded && workspace.runsOn(*current) == loaded.directory && name == loaded.name;
  }
  if (engine.state() == EngineState::Loading) return TopBar::tr("%1 · loading…").arg(plain(name));
  if (name.isEmpty()) return TopBar::tr("no model");
  if (isNarrow) {
    // The name of an adapter is in the tool tip.
    const qsizetype adapter = name.indexOf(QStringLiteral(" + "));
    return plain(adapter < 0 ? name : name.left(adapter) + QStringLiteral(" +…"));
  }
  if (!isLoaded) return TopBar::tr("%1 · not loaded").arg(plain(name));
  return TopBar::tr("%1 · %2 · %3").arg(plain(name), countText(loaded.parameters), loaded.deviceKind);
}

QString modelTip(const Workspace& workspace, const EngineHost& engine) {
  const OpenDocument* current = workspace.current();
  if (current == nullptr) return TopBar::tr("The loaded model");
  const document::RunSettings& settings = current->model->document().settings;
  if (!current->source->takesRuns())
    return TopBar::tr("The model of the recorded run: %1").arg(QString::fromStdString(settings.model));
  if (settings.runsOnServer()) {
    const QString name = QString::fromStdString(settings.server);
    const std::optional<workbench::NamedServer> server =
        workspace.serverRuns().servers().find(settings.server);
    if (!server) return TopBar::tr("The server %1, which is not in the list of servers").arg(name);
    QString tip =
        TopBar::tr("This query runs on the server %1: %2").arg(name, QString::fromStdString(server->url));
    if (!server->model.empty())
      tip += TopBar::tr("\nwith its model %1").arg(QString::fromStdString(server->model));
    tip += TopBar::tr(
               "\nThe tokenizer of %1 counts the tokens. To change the tokenizer, choose the model, then the "
               "server.")
               .arg(QString::fromStdString(workbench::modelNameOf(settings)));
    return tip;
  }
  const std::string directory = workspace.runsOn(*current);
  QString tip = TopBar::tr("Model of this query: %1").arg(QString::fromStdString(directory));
  if (!settings.adapter.empty())
    tip += TopBar::tr("\nwith the adapter %1").arg(QString::fromStdString(settings.adapter));
  if (directory != engine.model().directory)
    tip += TopBar::tr("\nThe next run loads this model and starts with an empty cache.");
  return tip;
}

}  // namespace

TopBar::TopBar(Workspace& workspace, QMenu* menu, QWidget* parent) : QWidget(parent), m_workspace(workspace) {
  setObjectName(QStringLiteral("topBar"));
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(kHeight);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 0, 8, 0);
  layout->setSpacing(kBarGap);
  // The layout switch stays in the middle for any number of open documents.
  auto* left = new QWidget;
  m_left = left;
  left->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* leftRow = new QHBoxLayout(left);
  leftRow->setContentsMargins(0, 0, 0, 0);
  leftRow->setSpacing(kBarGap);
  m_menu = makeMenuButton(menu);
  leftRow->addWidget(m_menu);
  m_tabs = new DocumentTabs;
  m_tabs->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  connect(m_tabs, &DocumentTabs::chosen, this, &TopBar::tabChosen);
  connect(m_tabs, &DocumentTabs::closeWanted, this, &TopBar::tabCloseWanted);
  leftRow->addWidget(m_tabs, 100);
  m_add = new QToolButton;
  m_add->setText(QStringLiteral("+"));
  m_add->setAutoRaise(true);
  m_add->setAccessibleName(tr("New query"));
  connect(m_add, &QToolButton::clicked, this, [this] { Q_EMIT commandWanted(QStringLiteral("file.new")); });
  leftRow->addWidget(m_add);
  const auto goButton = [&](const QString& sign, const QString& name, const QString& command) {
    auto* button = new QToolButton;
    button->setText(sign);
    button->setAutoRaise(true);
    button->setAccessibleName(name);
    button->setObjectName(command.section(QLatin1Char('.'), 1));
    connect(button, &QToolButton::clicked, this, [this, command] { Q_EMIT commandWanted(command); });
    leftRow->addWidget(button);
    return button;
  };
  leftRow->addStretch(1);
  m_back = goButton(QStringLiteral("←"), tr("Back to previous selection"), QStringLiteral("view.back"));
  m_forward = goButton(QStringLiteral("→"), tr("Forward to next selection"), QStringLiteral("view.forward"));
  layout->addWidget(left, 1);

  m_switch = makeLayouts();
  layout->addWidget(m_switch, 0, Qt::AlignVCenter);
  m_layout = makeLayoutMenu();
  layout->addWidget(m_layout, 0, Qt::AlignVCenter);

  auto* right = new QWidget;
  auto* rightRow = new QHBoxLayout(right);
  rightRow->setContentsMargins(0, 0, 0, 0);
  rightRow->setSpacing(kBarGap);
  rightRow->addStretch(1);
  layout->addWidget(right, 1);

  m_model = makeDropDown(tr("Model"), QString());
  m_model->setPopupMode(QToolButton::InstantPopup);
  auto* models = new QMenu(m_model);
  models->setToolTipsVisible(true);
  connect(models, &QMenu::aboutToShow, this, [this] {
    m_workspace.searchModels();
    fillModels();
  });
  connect(&m_workspace.modelSearch(), &ModelSearch::found, this, [this, models] {
    // An open submenu would disappear under the pointer.
    const auto isOpen = [](const QMenu* tool) { return tool->isVisible(); };
    const auto menus = models->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly);
    if (!models->isVisible() || std::any_of(menus.begin(), menus.end(), isOpen)) return;
    fillModels();
    keepOnScreen(*models);
  });
  m_model->setMenu(models);
  rightRow->addWidget(m_model);

  m_policy = makeDropDown(tr("Reuse policy"), tr("Choose the reuse policy. The menu compares the results of "
                                                 "each policy with block attention and full prefill"));
  m_policy->setPopupMode(QToolButton::InstantPopup);
  auto* policies = new QMenu(m_policy);
  // The exactness of a policy also depends on the model's device.
  connect(policies, &QMenu::aboutToShow, this, &TopBar::fillPolicies);
  policies->setToolTipsVisible(true);
  m_policy->setMenu(policies);
  rightRow->addWidget(m_policy);

  m_stop = new QPushButton(tr("Stop"));
  m_stop->setObjectName(QStringLiteral("stop"));
  connect(m_stop, &QPushButton::clicked, this, [this] { Q_EMIT commandWanted(QStringLiteral("run.stop")); });
  rightRow->addWidget(m_stop);
  m_run = new QPushButton(tr("▶ Run"));
  m_run->setAccessibleName(tr("Run"));
  m_run->setObjectName(QStringLiteral("primary"));
  connect(m_run, &QPushButton::clicked, this, [this] { Q_EMIT commandWanted(QStringLiteral("run.run")); });
  rightRow->addWidget(m_run);
}

/// Lists each policy with its default values, but the document's policy with the document's values.
void TopBar::fillPolicies() {
  QMenu& menu = *m_policy->menu();
  menu.clear();
  const DocumentModel* model = m_workspace.model();
  const policy::Choice current =
      model == nullptr ? policy::Choice() : workbench::policyOf(model->document().settings.policy);
  QAction* signs =
      menu.addAction(tr("Policy: what it does, and when to choose it\tResult: ✓ bit-exact, ≈ close to"));
  signs->setEnabled(false);
  if (model != nullptr) menu.addAction(policyAdvice())->setEnabled(false);
  for (const policy::Policy* policy : policy::policies()) {
    const bool isCurrent = model != nullptr && &current.policy() == policy;
    const policy::Choice choice = isCurrent ? current : policy::Choice(*policy);
    const QString name = QString::fromStdString(choice.name());
    QAction* action = menu.addAction(policyLine(choice), this, [this, name] {
      if (DocumentModel* chosen = m_workspace.model()) {
        chosen->change(tr("Policy %1").arg(name), [&name](document::Document& document) {
          document.settings.policy = name.toStdString();
        });
      }
    });
    const QString source = *policy->asIn == '\0' ? QString() : policyWord(policy->asIn);
    action->setToolTip(source.isEmpty() ? policyWord(policy->help)
                                        : tr("%1 (as in %2)").arg(policyWord(policy->help), source));
    action->setCheckable(true);
    action->setChecked(isCurrent);
  }
  menu.addSeparator();
  menu.addAction(tr("Probe this model…"), this, [this] { Q_EMIT commandWanted(QStringLiteral("run.probe")); })
      ->setEnabled(model != nullptr);
  QAction* compare = menu.addAction(tr("Compare policies…"), this,
                                    [this] { Q_EMIT commandWanted(QStringLiteral("run.policies")); });
  compare->setEnabled(model != nullptr);
}

QString TopBar::policyAdvice() const {
  const ViewInput& input = m_workspace.input();
  const document::RunSettings& settings = input.document->settings;
  QString advice =
      tr("Default for this model: %1").arg(QString::fromStdString(workbench::usualPolicyOf(settings)));
  const auto probe = measured<jobs::ProbeJob>(input.measured);
  if (probe == nullptr || probe->choice.model != settings.model || probe->choice.adapter != settings.adapter)
    return advice;
  const std::string recommended = probe->recommended();
  return recommended.empty()
             ? advice
             : tr("%1 · recommended by the probe: %2").arg(advice, QString::fromStdString(recommended));
}

const workbench::FoundModel* TopBar::foundModel(const QString& directory) const {
  const std::shared_ptr<const ModelSearch::Models>& found = m_workspace.modelSearch().models();
  if (found == nullptr) return nullptr;
  const std::filesystem::path path = directory.toStdString();
  const auto model = std::find_if(found->begin(), found->end(),
                                  [&path](const auto& each) { return each.place.path == path; });
  return model == found->end() ? nullptr : &*model;
}

void TopBar::addFoundModels(QMenu& menu) {
  constexpr int kLongestReason = 100;
  const ModelSearch& search = m_workspace.modelSearch();
  if (search.models() == nullptr) {
    if (search.isSearching()) menu.addAction(tr("Looking for models of other programs…"))->setEnabled(false);
    return;
  }
  const DocumentModel* model = m_workspace.model();
  const std::string current = model == nullptr ? std::string() : model->document().settings.model;
  for (const workbench::ModelKeeper keeper :
       {workbench::ModelKeeper::HuggingFace, workbench::ModelKeeper::Ollama, workbench::ModelKeeper::LmStudio,
        workbench::ModelKeeper::LlamaCpp}) {
    QMenu* own = nullptr;
    for (const workbench::FoundModel& found : *search.models()) {
      if (found.place.keeper != keeper) continue;
      if (own == nullptr) {
        own = menu.addMenu(QString::fromUtf8(workbench::keeperName(keeper)));
        own->setToolTipsVisible(true);
      }
      const QString path = QString::fromStdString(found.place.path.string());
      const QString reason = QString::fromStdString(found.header.problem);
      const bool isLong = reason.size() > kLongestReason;
      const QString beside = found.canRun() ? modelFacts(found)
                             : isLong       ? reason.left(kLongestReason) + QStringLiteral("…")
                                            : reason;
      QAction* action =
          own->addAction(plain(QString::fromStdString(found.place.name)) + QLatin1Char('\t') + plain(beside),
                         this, [this, path] {
                           if (DocumentModel* chosen = m_workspace.model()) chooseModel(*chosen, path);
                         });
      action->setEnabled(model != nullptr && found.canRun());
      action->setCheckable(true);
      action->setChecked(found.canRun() && path.toStdString() == current);
      action->setToolTip(reason.isEmpty() ? path
                         : path.isEmpty() ? reason
                                          : path + QLatin1Char('\n') + reason);
    }
  }
}

/// Adds the user's named servers, which the document can use instead of a local model.
void TopBar::addServers(QMenu& menu) {
  const DocumentModel* model = m_workspace.model();
  const std::string current = model == nullptr ? std::string() : model->document().settings.server;
  QAction* header = menu.addAction(tr("Servers"));
  header->setEnabled(false);
  for (const workbench::NamedServer& server : m_workspace.serverRuns().servers().list()) {
    const QString url = QString::fromStdString(server.url);
    const QString beside = server.model.empty() ? url : QString::fromStdString(server.model);
    QAction* action = menu.addAction(
        plain(m_workspace.serverRuns().serverTitle(server.name)) + QLatin1Char('\t') + plain(beside), this,
        [this, name = server.name] {
          if (DocumentModel* chosen = m_workspace.model()) chooseServer(*chosen, name);
        });
    action->setCheckable(true);
    action->setChecked(model != nullptr && server.name == current);
    action->setEnabled(model != nullptr);
    action->setToolTip(url);
  }
  menu.addAction(tr("Servers…"), this, [this] { Q_EMIT commandWanted(QStringLiteral("run.servers")); });
}

void TopBar::fillModels() {
  QMenu& menu = *m_model->menu();
  menu.clear();
  // Clearing a menu does not delete its submenus.
  qDeleteAll(menu.findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));
  DocumentModel* model = m_workspace.model();
  const std::string current = model == nullptr ? std::string() : model->document().settings.model;
  std::optional<ModelOrigin> group;
  for (const ModelChoice& choice : modelChoices(m_workspace.input().models, current)) {
    if (group != choice.origin) {
      QAction* header = menu.addAction(originText(choice.origin));
      header->setEnabled(false);
      group = choice.origin;
    }
    QAction* action = menu.addAction(plain(choice.name), this, [this, value = choice.value] {
      if (DocumentModel* chosen = m_workspace.model()) chooseModel(*chosen, value);
    });
    action->setCheckable(true);
    action->setChecked(model != nullptr && choice.isCurrent && !model->document().settings.runsOnServer());
    action->setEnabled(model != nullptr);
    action->setToolTip(choice.directory);
    if (const workbench::FoundModel* found = foundModel(choice.directory)) {
      action->setText(plain(choice.name) + QLatin1Char('\t') + modelFacts(*found));
      if (!found->canRun())
        action->setToolTip(choice.directory + QLatin1Char('\n') +
                           QString::fromStdString(found->header.problem));
    }
  }
  addFoundModels(menu);
  addServers(menu);
  menu.addSeparator();
  const auto browse = [&](const QString& text, QString (*ask)(QWidget*)) {
    QAction* action = menu.addAction(text, this, [this, ask] {
      const QString path = ask(this);
      if (DocumentModel* chosen = m_workspace.model(); chosen != nullptr && !path.isEmpty())
        chooseModel(*chosen, path);
    });
    action->setEnabled(model != nullptr);
  };
  menu.addAction(tr("Get a model…"), this, [this] { Q_EMIT commandWanted(QStringLiteral("run.get-model")); });
  browse(tr("Choose a GGUF file…"), &askForModelFile);
  browse(tr("Choose a folder…"), &askForModelFolder);
  QAction* chat = menu.addAction(tr("Chat template…"), this,
                                 [this] { Q_EMIT commandWanted(QStringLiteral("run.choose-template")); });
  chat->setEnabled(model != nullptr);
  menu.addAction(tr("Probe this model…"), this, [this] { Q_EMIT commandWanted(QStringLiteral("run.probe")); })
      ->setEnabled(model != nullptr);
  const std::string used = model == nullptr ? std::string() : model->document().settings.adapter;
  const std::string adapter = used.empty() ? m_workspace.offeredAdapter() : used;
  if (!adapter.empty()) {
    const QString name = QString::fromStdString(checkpoint::Checkpoint(adapter).name());
    QAction* action = menu.addAction(tr("Use adapter %1").arg(plain(name)), this, [this, adapter](bool isOn) {
      if (DocumentModel* chosen = m_workspace.model()) chooseAdapter(*chosen, isOn ? adapter : std::string());
    });
    action->setCheckable(true);
    action->setChecked(!used.empty());
    action->setToolTip(
        used.empty()
            ? tr("Use the bundled adapter for block attention: %1").arg(QString::fromStdString(adapter))
            : QString::fromStdString(adapter));
  }
  fillDevices(*menu.addMenu(tr("Computed by")), model);
  menu.addAction(tr("Show model settings"), this,
                 [this] { Q_EMIT commandWanted(QStringLiteral("view.dock:settings")); });
}

void TopBar::fillDevices(QMenu& menu, const DocumentModel* model) {
  menu.setEnabled(model != nullptr);
  if (model == nullptr) return;
  for (const DeviceChoice& choice :
       deviceChoices(m_workspace.input().devices.get(), model->document().settings.device)) {
    QAction* action = menu.addAction(plain(choice.text), this, [this, name = choice.name] {
      if (DocumentModel* chosen = m_workspace.model()) chooseDevice(*chosen, name);
    });
    action->setCheckable(true);
    action->setChecked(choice.isCurrent);
  }
}

QToolButton* TopBar::makeMenuButton(QMenu* menu) {
  auto* button = new QToolButton;
  button->setText(QStringLiteral("☰"));
  button->setAutoRaise(true);
  button->setAccessibleName(tr("Menu"));
  button->setToolTip(tr("Menu (F10)"));
  button->setShortcut(Qt::Key_F10);
  button->setMenu(menu);
  button->setPopupMode(QToolButton::InstantPopup);
  return button;
}

QToolButton* TopBar::makeDropDown(const QString& name, const QString& help) {
  auto* button = new QToolButton;
  button->setAccessibleName(name);
  button->setToolTip(help);
  return button;
}

QWidget* TopBar::makeLayouts() {
  auto* frame = new QFrame;
  frame->setObjectName(QStringLiteral("segments"));
  frame->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  auto* layout = new QHBoxLayout(frame);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  m_layouts = new QButtonGroup(this);
  int id = 0;
  for (const QString& text : {tr("Author"), tr("Explain"), tr("Measure"), tr("Diagnose")}) {
    auto* button = new QPushButton(text);
    button->setCheckable(true);
    button->setObjectName(QStringLiteral("segment"));
    m_layouts->addButton(button, id++);
    layout->addWidget(button);
  }
  connect(m_layouts, &QButtonGroup::idClicked, this, [this](int layoutIndex) {
    Q_EMIT commandWanted(QStringLiteral("view.") + layoutName(static_cast<LayoutId>(layoutIndex)));
  });
  return frame;
}

QToolButton* TopBar::makeLayoutMenu() {
  QToolButton* button =
      makeDropDown(tr("Layout"), tr("Show the docks for writing, explaining, measuring or diagnosing"));
  button->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(button);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    for (QAbstractButton* own : m_layouts->buttons()) {
      QAction* action = menu->addAction(own->text(), own, [own] { own->click(); });
      action->setCheckable(true);
      action->setChecked(own->isChecked());
      action->setEnabled(own->isEnabled());
    }
  });
  button->setMenu(menu);
  button->hide();
  return button;
}

void TopBar::setKeys(const KeyBindings& keys) {
  const auto tip = [&keys](QAbstractButton* button, const QString& id) {
    CommandInfo info = *findCommand(id);
    info.keys = keys.keys(info);
    const QString names = shownKeys(info);
    button->setToolTip(names.isEmpty() ? info.help : tr("%1 (%2)").arg(info.help, names));
  };
  tip(m_add, QStringLiteral("file.new"));
  tip(m_back, QStringLiteral("view.back"));
  tip(m_forward, QStringLiteral("view.forward"));
  tip(m_stop, QStringLiteral("run.stop"));
  tip(m_run, QStringLiteral("run.run"));
  for (const LayoutId layout : kLayouts)
    tip(m_layouts->button(static_cast<int>(layout)), QStringLiteral("view.") + layoutName(layout));
}

void TopBar::refresh(LayoutId layout, bool welcome) {
  std::vector<TabLabel> labels;
  int shown = -1;
  for (const OpenDocument* document : m_workspace.tabs()) {
    if (document == m_workspace.current()) shown = static_cast<int>(labels.size());
    labels.push_back({.title = document->model->title(),
                      .path = document->model->filePath(),
                      .isModified = document->model->isModified()});
  }
  m_tabs->setTabs(labels, shown);

  if (QAbstractButton* button = m_layouts->button(static_cast<int>(layout))) button->setChecked(true);
  for (QAbstractButton* button : m_layouts->buttons()) button->setEnabled(!welcome);

  const EngineHost& engine = m_workspace.engine();
  const OpenDocument* current = m_workspace.current();
  m_model->setEnabled(current == nullptr || current->source->takesRuns());
  const policy::Choice policy =
      current == nullptr ? policy::Choice() : workbench::policyOf(current->model->document().settings.policy);
  const layout::Layout promptLayout = current == nullptr
                                          ? layout::Layout::Exact
                                          : workbench::layoutOf(current->model->document().settings.layout);
  QString policyWords = QString::fromStdString(policy.name());
  if (promptLayout != layout::Layout::Exact)
    policyWords = tr("%1, %2").arg(policyWords, QString::fromUtf8(layout::infoOf(promptLayout).name));
  m_policyWords = policyWords;
  m_policy->setToolTip(QStringList({tr("Reuse policy %1.")
                                        .arg(QString::fromStdString(layout::exactnessOver(
                                            policyText(policy).toStdString(), promptLayout))),
                                    explain(u"policy"), explain(u"exactness"), explain(u"block-attention"),
                                    explain(u"full-prefill")})
                           .join(QLatin1Char('\n')));
  m_back->setEnabled(!welcome && m_workspace.canGoThroughSelections(-1));
  m_forward->setEnabled(!welcome && m_workspace.canGoThroughSelections(1));
  const bool running = current != nullptr && engine.isBusy(current->id);
  m_stop->setEnabled(running || (current != nullptr && engine.isMeasuring(current->id)) ||
                     engine.isMeasuring(EngineJob::kProgram));
  m_run->setEnabled(current != nullptr && !running && current->source->takesRuns());
  const bool takesRuns = current == nullptr || current->source->takesRuns();
  m_policy->setEnabled(current != nullptr && takesRuns);
  if (!takesRuns)
    m_policy->setToolTip(
        tr("This tab shows runs of another program, or recorded runs. A reuse policy applies to "
           "queries that Spanscope runs."));
  makeRoom();
}

/// The width of a button with another text.
int TopBar::widthWith(const QAbstractButton& button, const QString& text) {
  const QFontMetrics metrics = button.fontMetrics();
  return button.sizeHint().width() - metrics.horizontalAdvance(button.text()) +
         metrics.horizontalAdvance(text);
}

QSize TopBar::minimumSizeHint() const {
  const QMargins margins = layout()->contentsMargins();
  int least = margins.left() + margins.right() + leastLeft() + m_layout->sizeHint().width();
  for (const QToolButton* button : {m_model, m_policy}) least += widthWith(*button, QString()) + kLeastText;
  const int run = m_run->sizeHint().width();
  const int stop = m_stop->sizeHint().width();
  const bool hasBoth = m_stop->isEnabled() && m_run->isEnabled();
  return {least + (hasBoth ? run + kBarGap + stop : std::max(run, stop)) + 4 * kBarGap, kHeight};
}

int TopBar::leastLeft() const {
  return m_menu->sizeHint().width() + m_add->sizeHint().width() + 2 * kBarGap +
         std::min(kLeastTabs, m_tabs->readableWidth());
}

void TopBar::showText(QToolButton& button, const QString& text, int room) {
  const QString shown =
      button.fontMetrics().elidedText(text, Qt::ElideMiddle, std::max(room, kLeastText) + 1) + kOpens;
  if (button.text() != shown) button.setText(shown);
}

/// Makes enough space to read the shown tab, in steps. First, the model's size and device move into its tool
/// tip. Then back and forward are hidden; the View menu and keys also have them. Then names are shortened,
/// the disabled button of Run and Stop is hidden, and the layouts become a menu. The menu button, Run or
/// Stop, and a part of a tab are always visible.
void TopBar::makeRoom() {
  const QMargins margins = layout()->contentsMargins();
  const int inner = width() - margins.left() - margins.right();
  const QString whole = modelText(m_workspace, m_workspace.engine(), false);
  const QString brief = modelText(m_workspace, m_workspace.engine(), true);
  const int stop = m_stop->sizeHint().width() + kBarGap;
  const auto rightWith = [&](const QString& model) {
    return widthWith(*m_model, model + kOpens) + widthWith(*m_policy, m_policyWords + kOpens) + stop +
           m_run->sizeHint().width() + 2 * kBarGap;
  };
  const auto fits = [&](const QString& model, bool hasArrows) {
    int needed = m_tabs->readableWidth();
    for (const QWidget* other : {static_cast<QWidget*>(m_menu), static_cast<QWidget*>(m_add)})
      needed += kBarGap + other->sizeHint().width();
    for (const QToolButton* arrow : {m_back, m_forward})
      needed += hasArrows ? kBarGap + arrow->sizeHint().width() : 0;
    const int sides = inner - m_switch->sizeHint().width() - 2 * kBarGap;
    return needed <= std::min(sides - rightWith(model), std::max(sides / 2, 0));
  };
  const bool isWhole = fits(whole, true);
  const QString& model = isWhole ? whole : brief;
  const bool hasArrows = isWhole || fits(brief, true);
  for (QToolButton* arrow : {m_back, m_forward}) arrow->setVisible(hasArrows);

  // The width in pixels that is still missing for the readable minimum.
  int missing = leastLeft() + m_switch->sizeHint().width() + 2 * kBarGap + rightWith(model) - inner;
  const auto take = [&missing](int wanted) {
    const int taken = std::clamp(missing, 0, std::max(0, wanted));
    missing -= taken;
    return taken;
  };
  const int modelWidth = m_model->fontMetrics().horizontalAdvance(model);
  const int modelRoom = modelWidth - take(modelWidth - 2 * kLeastText);
  const bool isShort = missing > 0;
  const bool hasStop = !isShort || m_stop->isEnabled();
  const bool hasRun = !isShort || m_run->isEnabled() || !hasStop;
  if (!hasStop) take(stop);
  if (!hasRun) take(m_run->sizeHint().width() + kBarGap);
  const bool isMenu = missing > 0;
  if (isMenu) take(m_switch->sizeHint().width() - m_layout->sizeHint().width());
  const int policyWidth = m_policy->fontMetrics().horizontalAdvance(m_policyWords);
  const int policyRoom = policyWidth - take(policyWidth - kLeastText);
  showText(*m_policy, m_policyWords, policyRoom);
  showText(*m_model, model, modelRoom - take(modelRoom - kLeastText));
  const QString tip = modelTip(m_workspace, m_workspace.engine());
  m_model->setToolTip(m_model->text() == whole + kOpens ? tip : whole + QLatin1Char('\n') + tip);
  m_stop->setVisible(hasStop);
  m_run->setVisible(hasRun);
  if (const QAbstractButton* present = m_layouts->checkedButton())
    m_layout->setText(present->text() + kOpens);
  m_switch->setVisible(!isMenu);
  m_layout->setVisible(isMenu);
  m_left->setMinimumWidth(leastLeft());
}

void TopBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  makeRoom();
}

QString TopBar::policyLine(const policy::Choice& policy) const {
  const bool isBitEqual = m_workspace.engine().model().rowsAreBitEqual;
  const policy::Policy& info = policy.policy();
  const QString text = QString::fromStdString(policy.name()) + QStringLiteral(": ") + policyWord(info.brief);
  // The text after the tab shows the exactness of the policy, in a separate column.
  return text + QLatin1Char('\t') + QString::fromStdString(policy::exactnessOn(policy, isBitEqual));
}

QString TopBar::policyText(const policy::Choice& policy) const {
  const bool isBitEqual = m_workspace.engine().model().rowsAreBitEqual;
  return QString::fromStdString(policy.name()) + QStringLiteral(": ") +
         QString::fromStdString(policy::exactnessOn(policy, isBitEqual));
}

}  // namespace spanscope::ui

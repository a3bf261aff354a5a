// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/get_model_dialog.h"

#include "engine/base/error.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/secrets/secret_store.h"
#include "engine/workbench/finder/hub_models.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMetaObject>
#include <QPalette>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeWidget>
#include <QTreeWidgetItem>
#include <QVBoxLayout>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr QSize kDialogSize(640, 460);
constexpr int kFrame = 100;  // milliseconds between two values of the progress
constexpr int kBarSteps = 1000;

enum Column { ModelColumn, SizeColumn, FitColumn, HereColumn, ColumnCount };

QString bytesOf(std::uint64_t bytes) {
  return QString::fromStdString(workbench::hubSizeText(bytes));
}

/// Stores a typed token that the hub has accepted. Returns the error; empty: no error.
QString storeToken(const remote::HubPlace& place, const std::string& token, const std::stop_token& stop) {
  try {
    remote::keepSecret(workbench::hubSecretName(place), token, stop);
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

}  // namespace

GetModelDialog::GetModelDialog(ForDevice device, const Theme& theme, QWidget* parent,
                               workbench::VariableReader environment)
    : QDialog(parent), m_device(std::move(device)), m_theme(theme), m_environment(std::move(environment)) {
  setWindowTitle(tr("Get a model"));
  auto* head = new QLabel(tr("Models on Hugging Face"), this);
  head->setFont(theme.titleFont());
  auto* help =
      new QLabel(tr("Type the name of a model, as on its page. Spanscope downloads the files into the "
                    "cache of Hugging Face, which other programs share."),
                 this);
  help->setWordWrap(true);

  m_name = new QLineEdit(this);
  m_name->setObjectName(QStringLiteral("hubName"));
  m_name->setAccessibleName(tr("Name of the model"));
  m_name->setPlaceholderText(tr("e.g. HuggingFaceTB/SmolLM2-135M-Instruct"));
  const auto button = [this](const QString& text, const QString& name, void (GetModelDialog::*act)()) {
    auto* made = new QPushButton(text, this);
    made->setAutoDefault(false);
    made->setObjectName(name);
    connect(made, &QPushButton::clicked, this, act);
    return made;
  };
  m_list = button(tr("List files"), QStringLiteral("hubList"), &GetModelDialog::list);
  m_list->setToolTip(tr("Ask the hub for the models under this name, with their sizes"));
  connect(m_name, &QLineEdit::returnPressed, this, &GetModelDialog::list);
  connect(m_name, &QLineEdit::textEdited, this, &GetModelDialog::showButtons);
  auto* nameRow = new QHBoxLayout;
  nameRow->setSpacing(2 * kSpace);
  nameRow->addWidget(m_name, 1);
  nameRow->addWidget(m_list);

  m_tokenLabel = new QLabel(tr("Access &token"), this);
  m_token = new QLineEdit(this);
  m_token->setObjectName(QStringLiteral("hubToken"));
  m_token->setEchoMode(QLineEdit::Password);
  m_token->setPlaceholderText(tr("e.g. hf_…, from the settings of your account"));
  m_tokenLabel->setBuddy(m_token);
  connect(m_token, &QLineEdit::returnPressed, this, &GetModelDialog::list);
  m_keepsToken = new QCheckBox(tr("Store in the desktop's secret store"), this);
  m_keepsToken->setObjectName(QStringLiteral("hubKeepsToken"));
  auto* tokenRow = new QHBoxLayout;
  tokenRow->setSpacing(2 * kSpace);
  tokenRow->addWidget(m_tokenLabel);
  tokenRow->addWidget(m_token, 1);
  tokenRow->addWidget(m_keepsToken);

  m_models = new QTreeWidget(this);
  m_models->setObjectName(QStringLiteral("hubModels"));
  m_models->setAccessibleName(tr("Models under this name"));
  m_models->setColumnCount(ColumnCount);
  m_models->setHeaderLabels(
      {tr("Model"), tr("Size"), tr("Fits %1").arg(m_device.name.toUpper()), tr("On this machine")});
  m_models->setRootIsDecorated(false);
  m_models->setUniformRowHeights(true);
  m_models->header()->setStretchLastSection(false);
  m_models->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_models->header()->setSectionResizeMode(ModelColumn, QHeaderView::Stretch);
  m_models->headerItem()->setTextAlignment(SizeColumn, Qt::AlignRight | Qt::AlignVCenter);
  m_models->headerItem()->setToolTip(
      FitColumn, tr("Shows whether the weights leave a tenth of the memory for the cache"));
  connect(m_models, &QTreeWidget::currentItemChanged, this, &GetModelDialog::showButtons);

  m_said = new QLabel(this);
  m_said->setObjectName(QStringLiteral("hubSaid"));
  m_said->setWordWrap(true);
  m_said->setTextFormat(Qt::PlainText);
  m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_bar = new QProgressBar(this);
  m_bar->setObjectName(QStringLiteral("hubProgress"));
  m_bar->setRange(0, kBarSteps);
  m_bar->setTextVisible(false);
  m_bar->hide();

  m_stopButton = button(tr("Stop"), QStringLiteral("hubStop"), &GetModelDialog::stop);
  m_get = button(tr("Get model"), QStringLiteral("primary"), &GetModelDialog::get);
  auto* close = new QPushButton(tr("Close"), this);
  close->setAutoDefault(false);
  close->setToolTip(tr("Close this window. A running download continues"));
  connect(close, &QPushButton::clicked, this, &QDialog::close);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addStretch(1);
  foot->addWidget(m_stopButton);
  foot->addWidget(m_get);
  foot->addWidget(close);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(3 * kSpace);
  column->addWidget(head);
  column->addWidget(help);
  column->addLayout(nameRow);
  column->addLayout(tokenRow);
  column->addWidget(m_models, 1);
  column->addWidget(m_said);
  column->addWidget(m_bar);
  column->addLayout(foot);
  resize(kDialogSize);
  showToken(false);
  m_frame.setInterval(kFrame);
  connect(&m_frame, &QTimer::timeout, this, &GetModelDialog::showProgress);
  showButtons();
}

GetModelDialog::~GetModelDialog() {
  m_stop.request_stop();
}

void GetModelDialog::say(const QString& text, bool isProblem) {
  QPalette palette = m_said->palette();
  palette.setColor(QPalette::WindowText, m_theme.color(isProblem ? Role::Error : Role::TextSecond));
  m_said->setPalette(palette);
  m_said->setText(text);
}

void GetModelDialog::showToken(bool isShown) {
  m_tokenLabel->setVisible(isShown);
  m_token->setVisible(isShown);
  m_keepsToken->setVisible(isShown);
}

void GetModelDialog::showButtons() {
  m_name->setEnabled(!m_isBusy);
  m_token->setEnabled(!m_isBusy);
  m_keepsToken->setEnabled(!m_isBusy);
  m_models->setEnabled(!m_isBusy);
  m_list->setEnabled(!m_isBusy && !m_name->text().trimmed().isEmpty());
  m_get->setEnabled(!m_isBusy && m_models->currentItem() != nullptr);
  m_stopButton->setEnabled(m_isBusy);
  m_bar->setVisible(m_isGetting);
}

void GetModelDialog::waitFor(std::function<void(const std::stop_token& stop)> act,
                             std::function<void(const QString& problem)> done) {
  m_isBusy = true;
  m_stop = std::stop_source();
  showButtons();
  m_thread.post([this, act = std::move(act), done = std::move(done), stop = m_stop.get_token()] {
    QString problem;
    try {
      act(stop);
    } catch (const std::exception& failure) {
      problem = QString::fromUtf8(failure.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, done, problem] {
          m_isBusy = false;
          done(problem);
          showButtons();
          Q_EMIT ended();
        },
        Qt::QueuedConnection);
  });
}

void GetModelDialog::list() {
  if (m_isBusy || m_name->text().trimmed().isEmpty()) return;
  m_models->clear();
  m_shown.clear();
  m_listing = {};
  const auto name = remote::readHubName(m_name->text().trimmed().toStdString());
  if (const auto* problem = std::get_if<Error>(&name)) {
    say(QString::fromStdString(problem->message()), true);
    showButtons();
    return;
  }
  m_file = std::get<remote::HubName>(name).file;
  struct Result {
    remote::HubPlace place;
    remote::HubListing listing;
    bool wantsToken = false;
    QString note;  ///< why the token could not be stored
  };
  const auto result = std::make_shared<Result>();
  say(tr("Asking the hub…"), false);
  waitFor(
      [result, repository = std::get<remote::HubName>(name).repository, environment = m_environment,
       token = m_token->text().trimmed().toStdString(),
       keeps = m_keepsToken->isChecked()](const std::stop_token& stop) {
        result->place = workbench::hubPlace(environment);
        if (!token.empty()) result->place.token = token;
        remote::HttpClient client;
        try {
          result->listing = workbench::listHubModel(client, result->place, repository, "main", stop);
        } catch (const remote::HubAccessFailure&) {
          result->wantsToken = true;
          throw;
        }
        if (!token.empty() && keeps) result->note = storeToken(result->place, token, stop);
      },
      [this, result](const QString& problem) {
        if (result->wantsToken) showToken(true);
        if (!problem.isEmpty() || result->listing.commit.empty()) {
          say(problem.isEmpty() ? tr("Stopped") : problem, !problem.isEmpty());
          return;
        }
        m_place = result->place;
        m_listing = result->listing;
        showModels();
        showButtons();
        m_get->setFocus();
        if (!result->note.isEmpty()) say(tr("The access token was not stored: %1").arg(result->note), true);
      });
}

void GetModelDialog::showModels() {
  m_shown = remote::hubModels(m_listing);
  std::size_t best = 0;
  QString problem;
  try {
    const remote::HubModel chosen = remote::chosenModel(m_listing, m_file, m_device.memory);
    const auto found = std::ranges::find(m_shown, chosen.name, &remote::HubModel::name);
    best = static_cast<std::size_t>(found - m_shown.begin());
    if (found == m_shown.end()) m_shown.push_back(chosen);
  } catch (const Failure& failure) {
    problem = QString::fromUtf8(failure.what());
    if (!m_shown.empty()) best = remote::recommendedModel(m_shown, m_device.memory);
  }
  m_models->clear();
  for (const remote::HubModel& model : m_shown) {
    auto* row = new QTreeWidgetItem(m_models);
    const QString name = model.name.empty() ? tr("safetensors, %1 files").arg(model.files.size())
                                            : QString::fromStdString(model.name);
    row->setText(ModelColumn, name);
    row->setToolTip(ModelColumn, name);
    row->setText(SizeColumn, bytesOf(model.bytes));
    row->setTextAlignment(SizeColumn, Qt::AlignRight | Qt::AlignVCenter);
    const bool isKnown = m_device.memory > 0 && model.weightBytes > 0;
    row->setText(FitColumn, !isKnown                                                 ? QStringLiteral("–")
                            : remote::fitsMemory(model.weightBytes, m_device.memory) ? tr("yes")
                                                                                     : tr("no"));
    std::size_t here = 0;
    for (const std::string& file : model.files) {
      const remote::HubFile* listed = m_listing.find(file);
      here += listed != nullptr && remote::hubFileState(m_place, m_listing, *listed).isWhole ? 1 : 0;
    }
    row->setText(HereColumn, here == model.files.size() ? tr("yes") : QString());
  }
  m_models->setCurrentItem(m_models->topLevelItem(static_cast<int>(best)));
  if (!problem.isEmpty())
    say(problem, true);
  else if (m_file.empty() && m_device.memory > 0)
    say(tr("The selected model is recommended for %1 of memory.").arg(bytesOf(m_device.memory)), false);
  else
    say({}, false);
}

void GetModelDialog::get() {
  const int row = m_models->indexOfTopLevelItem(m_models->currentItem());
  if (m_isBusy || row < 0 || static_cast<std::size_t>(row) >= m_shown.size()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_progress.reset();
  }
  m_isGetting = true;
  m_elapsed.invalidate();
  m_bar->setValue(0);
  m_frame.start();
  say(tr("Asking the hub…"), false);
  Q_EMIT began();
  const std::string token = m_token->text().trimmed().toStdString();
  if (!token.empty()) m_place.token = token;
  struct Result {
    std::optional<std::filesystem::path> path;
    bool wantsToken = false;
    QString note;  ///< why the token could not be stored
  };
  const auto result = std::make_shared<Result>();
  waitFor(
      [this, result, keeps = !token.empty() && m_keepsToken->isChecked(), place = m_place,
       listing = m_listing,
       model = m_shown[static_cast<std::size_t>(row)]](const std::stop_token& stop) mutable {
        remote::HttpClient client;
        try {
          result->path = workbench::getHubModel(
              client, place, listing, model,
              [this](const remote::HubProgress& now) {
                const std::lock_guard lock(m_mutex);
                m_progress = now;
              },
              stop);
        } catch (const remote::HubAccessFailure&) {
          result->wantsToken = true;
          throw;
        }
        if (result->path && keeps) result->note = storeToken(place, place.token, stop);
      },
      [this, result, row](const QString& problem) {
        if (result->wantsToken) showToken(true);
        m_isGetting = false;
        m_frame.stop();
        if (!problem.isEmpty()) {
          say(problem, true);
        } else if (!result->path) {
          say(tr("The download was stopped. The next download continues at this point."), false);
        } else {
          if (QTreeWidgetItem* item = m_models->topLevelItem(row)) item->setText(HereColumn, tr("yes"));
          const QString path = QString::fromStdString(result->path->string());
          if (result->note.isEmpty())
            say(tr("The model is on this machine: %1").arg(path), false);
          else
            say(tr("The access token was not stored: %1").arg(result->note), true);
          Q_EMIT got(path);
        }
      });
}

void GetModelDialog::stop() {
  m_stop.request_stop();
}

void GetModelDialog::showProgress() {
  std::optional<remote::HubProgress> now;
  {
    const std::lock_guard lock(m_mutex);
    now = m_progress;
  }
  if (!now || !m_isGetting) return;
  if (!m_elapsed.isValid()) {
    m_elapsed.start();
    m_firstBytes = now->bytes;
  }
  const QString file = QString::fromStdString(now->file);
  if (now->waitsForOther) {
    say(tr("Another program downloads %1. Spanscope waits.").arg(file), false);
    return;
  }
  const double share =
      now->total == 0 ? 0 : static_cast<double>(now->bytes) / static_cast<double>(now->total);
  m_bar->setValue(static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarSteps));
  QString text = tr("File %1 of %2, %3: %4 of %5")
                     .arg(now->number)
                     .arg(now->files)
                     .arg(file, now->bytes == 0 ? tr("0 bytes") : bytesOf(now->bytes), bytesOf(now->total));
  constexpr qint64 kSecond = 1000;
  if (const qint64 time = m_elapsed.elapsed(); time > kSecond && now->bytes > m_firstBytes) {
    const auto rate = static_cast<double>(now->bytes - m_firstBytes) * kSecond / static_cast<double>(time);
    text += tr(", %1/s").arg(bytesOf(static_cast<std::uint64_t>(rate)));
  }
  say(text, false);
}

}  // namespace spanscope::ui

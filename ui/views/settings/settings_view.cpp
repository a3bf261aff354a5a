// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/settings_view.h"

#include "engine/policy/policies.h"
#include "engine/workbench/resource_paths.h"
#include "ui/views/common/checked_field.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/settings/retrieval_rows.h"
#include "ui/views/settings/settings_rows.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace spanscope::ui {
namespace {

using document::RunSettings;

constexpr int kLabelWidth = 112;
constexpr int kMostBlocks = 100'000'000;

/// Steps to the next power of two.
class PowerSpinBox : public QSpinBox {
 public:
  using QSpinBox::QSpinBox;

  void stepBy(int steps) override {
    int value = this->value();
    for (; steps > 0; --steps) {
      int next = 1;
      while (next <= value) next *= 2;
      value = next;
    }
    for (; steps < 0; ++steps) {
      int next = 1;
      while (next * 2 < value) next *= 2;
      value = next;
    }
    setValue(value);
  }
};

/// Folders of checkpoints that come with the program; the first is the one that is used where none is named.
QStringList bundledModels() {
  const std::filesystem::path standard = workbench::bundledModelDirectory();
  const QString first = QString::fromStdString(standard.string());
  QStringList paths{first};
  const QDir folder(QString::fromStdString(standard.parent_path().string()));
  for (const QString& name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
    const QString path = folder.filePath(name);
    if (path != first && QFileInfo::exists(path + QLatin1String("/config.json"))) paths += path;
  }
  return paths;
}

const QLatin1String kBrowse("\n");  ///< data of the entry that opens the file dialog: no path

}  // namespace

QString layersText(const std::vector<std::int32_t>& layers) {
  if (layers.empty()) return QStringLiteral("all");
  QStringList numbers;
  for (const std::int32_t layer : layers) numbers += QString::number(layer);
  return numbers.join(QLatin1String(", "));
}

std::optional<std::vector<std::int32_t>> readLayers(const QString& text) {
  std::vector<std::int32_t> layers;
  const QString trimmed = text.trimmed();
  if (trimmed.isEmpty() || trimmed == QLatin1String("all")) return layers;
  for (const QString& part : trimmed.split(QLatin1Char(','))) {
    const std::optional<std::int64_t> layer = wholeNumber(part, 0, 1000);
    if (!layer) return std::nullopt;
    layers.push_back(static_cast<std::int32_t>(*layer));
  }
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  return layers;
}

SettingsView::SettingsView(QWidget* parent) : InputView(InputPart::Model, Pace::EveryInput, parent) {
  auto* body = new QWidget;
  auto* grid = new QGridLayout(body);
  grid->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 3 * kSpace);
  grid->setHorizontalSpacing(2 * kSpace);
  grid->setVerticalSpacing(2 * kSpace);
  grid->setColumnMinimumWidth(0, kLabelWidth);
  grid->setColumnStretch(1, 1);
  m_rows = std::make_unique<SettingsRows>(*this, *grid, [this] { return model(); });
  makeModelRows();
  makeCacheRows();
  makeRunRows();
  makeLocalityRows();
  m_retrieval = std::make_unique<RetrievalRows>(*m_rows);
  makeRecordRows();
  m_rows->addNote(tr("Applied on the next run. Changing the model or the cache settings empties the cache."));
  grid->setRowStretch(grid->rowCount(), 1);

  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(body);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->viewport()->setAutoFillBackground(false);
  body->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll);
}

SettingsView::~SettingsView() = default;

void SettingsView::makeModelRows() {
  m_rows->addHeader(tr("Model"));
  m_model = new QComboBox(this);
  m_model->setObjectName(QStringLiteral("model"));
  m_model->setAccessibleName(tr("Model"));
  m_model->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  ignoreWheelWithoutFocus(m_model);
  connect(m_model, &QComboBox::activated, this, &SettingsView::chooseModel);
  m_rows->addRow(tr("Checkpoint"), m_model);
  m_threads = m_rows->makeSpin(QStringLiteral("threads"), 0, 4096, &RunSettings::threads);
  m_threads->setSpecialValueText(tr("one a core"));
  m_rows->addRow(tr("Threads"), m_threads);
}

void SettingsView::makeCacheRows() {
  m_rows->addHeader(tr("Cache"));
  QStringList policies;
  for (const policy::Policy* policy : policy::policies()) policies.append(QString::fromUtf8(policy->name));
  m_policy = m_rows->makeCombo(QStringLiteral("policy"), policies, &RunSettings::policy);
  for (const policy::Policy* policy : policy::policies()) {
    m_policy->setItemData(m_policy->findText(QString::fromUtf8(policy->name)),
                          QString::fromUtf8(policy->help), Qt::ToolTipRole);
  }
  m_rows->addRow(tr("Reuse policy"), m_policy);
  m_exactness = m_rows->addHint();
  m_blockSize = new PowerSpinBox(this);
  m_blockSize->setObjectName(QStringLiteral("blockSize"));
  m_blockSize->setRange(1, 1024);
  m_blockSize->setSuffix(tr(" tokens"));
  ignoreWheelWithoutFocus(m_blockSize);
  connect(m_blockSize, &QSpinBox::valueChanged, m_rows.get(), [this](int value) {
    m_rows->change(tr("Block size"), QStringLiteral("blockSize"),
                   [value](RunSettings& settings) { settings.blockSize = value; });
  });
  connect(m_blockSize, &QSpinBox::editingFinished, m_rows.get(), &SettingsRows::endMerge);
  m_rows->addRow(tr("Block size"), m_blockSize);
  m_blockCount = m_rows->makeSpin(QStringLiteral("blockCount"), 2, kMostBlocks, &RunSettings::blockCount);
  m_blockCount->setSingleStep(64);
  m_rows->addRow(tr("Blocks in the pool"), m_blockCount);
  m_capacity = m_rows->addHint();
  m_kvType = m_rows->makeCombo(QStringLiteral("kvType"), {QStringLiteral("f32"), QStringLiteral("bf16")},
                               &RunSettings::kvType);
  m_rows->addRow(tr("Keys and values"), m_kvType);
}

void SettingsView::makeRunRows() {
  m_rows->addHeader(tr("Run"));
  m_seed = new CheckedField(
      tr("Seed"),
      [this](const QString& text) -> QString {
        const std::optional<std::uint64_t> seed = seedNumber(text);
        if (!seed) return tr("A whole number from 0, of 64 bits");
        m_rows->change(tr("Seed"), QStringLiteral("seed"),
                       [seed](RunSettings& settings) { settings.seed = *seed; });
        return {};
      },
      this);
  m_seed->setObjectName(QStringLiteral("seed"));
  new DocumentUndo(m_seed->line(), [this] { return model(); });
  m_rows->addRow(tr("Seed"), m_seed);
  m_maxTokens = m_rows->makeSpin(QStringLiteral("maxTokens"), 0, std::numeric_limits<int>::max(),
                                 &RunSettings::maxTokens);
  m_maxTokens->setSpecialValueText(tr("the model's own"));
  m_maxTokens->setToolTip(tr("Of generates that set no limit themselves"));
  m_rows->addRow(tr("Max tokens"), m_maxTokens);
  m_outputForm =
      m_rows->makeCombo(QStringLiteral("outputForm"), {QStringLiteral("anew"), QStringLiteral("reused")},
                        &RunSettings::outputForm);
  m_outputForm->setItemText(0, tr("computed anew"));
  m_outputForm->setItemText(1, tr("reused (approximate)"));
  m_outputForm->setToolTip(tr("How the answer of an inner generate reaches the prompt around it"));
  m_rows->addRow(tr("Inner answers"), m_outputForm);
  m_distribute = m_rows->makeCheck(QStringLiteral("distribute"), tr("Distribute plus into inner generates"),
                                   &RunSettings::distribute);
  m_rows->addRow({}, m_distribute);
}

void SettingsView::makeLocalityRows() {
  m_rows->addHeader(tr("Attention locality"));
  m_locality = m_rows->makeSpin(QStringLiteral("locality"), 1, 1000, &RunSettings::locality);
  m_locality->setSpecialValueText(tr("off"));
  m_locality->setToolTip(
      tr("A judge of many candidates becomes judges of at most so many, where a plus declares that "
         "their order does not matter. It changes what each judge reads."));
  m_rows->addRow(tr("Entries a judge"), m_locality);
  m_localityShape =
      m_rows->makeCombo(QStringLiteral("localityShape"),
                        {QStringLiteral("tree"), QStringLiteral("map-reduce")}, &RunSettings::localityShape);
  m_localityShape->setItemText(0, tr("plies until one is left"));
  m_localityShape->setItemText(1, tr("one ply, then one that reads all"));
  m_rows->addRow(tr("Shape"), m_localityShape);
  m_reducePrompt = new QLineEdit(this);
  m_reducePrompt->setObjectName(QStringLiteral("reducePrompt"));
  m_reducePrompt->setPlaceholderText(tr("the same question"));
  m_reducePrompt->setToolTip(tr("What every ply but the first is asked"));
  new DocumentUndo(m_reducePrompt, [this] { return model(); });
  connect(m_reducePrompt, &QLineEdit::textEdited, this, [this](const QString& text) {
    m_rows->change(tr("Settings"), QStringLiteral("reducePrompt"),
                   [&text](RunSettings& settings) { settings.reducePrompt = text.toStdString(); });
  });
  m_rows->addRow(tr("Later plies"), m_reducePrompt);
}

void SettingsView::makeRecordRows() {
  m_rows->addHeader(tr("Recording"));
  m_observe = m_rows->makeCheck(QStringLiteral("observe"), tr("Record attention"), &RunSettings::observe);
  m_rows->addRow({}, m_observe);
  m_observeRows = m_rows->makeCheck(QStringLiteral("observeRows"),
                                    tr("For every token instead of every block"), &RunSettings::observeRows);
  m_rows->addRow({}, m_observeRows);
  m_layers = new CheckedField(
      tr("Observed layers"), [this](const QString& text) { return applyLayers(text); }, this);
  m_layers->setObjectName(QStringLiteral("layers"));
  m_layers->line()->setPlaceholderText(tr("all"));
  new DocumentUndo(m_layers->line(), [this] { return model(); });
  m_rows->addRow(tr("Layers"), m_layers);
  m_attention = m_rows->makeSpin(QStringLiteral("attentionMebibytes"), 1, document::kMostMebibytes,
                                 &RunSettings::attentionMebibytes);
  m_attention->setSuffix(tr(" MiB"));
  m_attention->setToolTip(
      tr("How much attention a run records. As that fills up, first layers are left out, then blocks; the "
         "trace says how many."));
  m_rows->addRow(tr("Attention"), m_attention);
  m_kept = m_rows->makeSpin(QStringLiteral("keptMebibytes"), document::kLeastKeptMebibytes,
                            document::kMostMebibytes, &RunSettings::keptMebibytes);
  m_kept->setSuffix(tr(" MiB"));
  m_kept->setToolTip(
      tr("How much of a session the window keeps. When there is more, the oldest events go; a file that is "
         "being recorded has them all."));
  m_rows->addRow(tr("Window keeps"), m_kept);
}

void SettingsView::showModels() {
  const QString current = QString::fromStdString(document().settings.model);
  QStringList paths = bundledModels();
  const bool isKnown = current.isEmpty() || paths.contains(current);
  const QSignalBlocker blocker(m_model);
  m_model->clear();
  for (qsizetype i = 0; i < paths.size(); ++i) {
    const QString name = QFileInfo(paths[i]).fileName();
    m_model->addItem(i == 0 ? tr("%1 (bundled)").arg(name) : name, i == 0 ? QString() : paths[i]);
    m_model->setItemData(m_model->count() - 1, paths[i], Qt::ToolTipRole);
  }
  if (!isKnown) {
    m_model->addItem(QFileInfo(current).fileName(), current);
    m_model->setItemData(m_model->count() - 1, current, Qt::ToolTipRole);
  }
  m_model->addItem(tr("Browse…"), kBrowse);
  const int found = m_model->findData(current);
  m_model->setCurrentIndex(std::max(0, found));
  m_model->setToolTip(current.isEmpty() ? paths.first() : current);
}

void SettingsView::chooseModel(int index) {
  QString path = m_model->itemData(index).toString();
  if (path == kBrowse) {
    path = QFileDialog::getExistingDirectory(this, tr("Folder of a checkpoint"));
    if (path.isEmpty()) {
      showModels();
      return;
    }
  }
  m_rows->change(tr("Model"), {}, [&path](RunSettings& settings) { settings.model = path.toStdString(); });
  showModels();
}

QString SettingsView::applyLayers(const QString& text) {
  const std::optional<std::vector<std::int32_t>> layers = readLayers(text);
  if (!layers) return tr("all, or numbers of layers from 0, separated by commas");
  m_rows->change(tr("Observed layers"), QStringLiteral("layers"),
                 [&layers](RunSettings& settings) { settings.layers = *layers; });
  return {};
}

void SettingsView::refresh() {
  const SettingsRows::Showing showing(*m_rows);
  const RunSettings& settings = document().settings;
  const Theme now = theme();
  m_rows->setTheme(now);
  m_seed->setTheme(now);
  m_layers->setTheme(now);

  showModels();
  const auto choose = [](QComboBox* combo, const std::string& value) {
    combo->setCurrentIndex(std::max(0, combo->findData(QString::fromStdString(value))));
  };
  choose(m_policy, settings.policy);
  choose(m_kvType, settings.kvType);
  choose(m_outputForm, settings.outputForm);
  const policy::Policy* policy = policy::findPolicy(settings.policy);
  m_exactness->setText(policy != nullptr ? QString::fromUtf8(policy->exactness) : QString());
  m_blockSize->setValue(settings.blockSize);
  m_blockCount->setValue(settings.blockCount);
  const std::int64_t tokens = std::int64_t{settings.blockCount - 1} * settings.blockSize;
  m_capacity->setText(
      tr("Room for %1 tokens; one block is never handed out").arg(QLocale::c().toString(qlonglong(tokens))));
  m_threads->setValue(settings.threads);
  m_seed->setText(QString::number(settings.seed));
  m_maxTokens->setValue(settings.maxTokens);
  m_distribute->setChecked(settings.distribute);
  m_locality->setValue(std::max(1, settings.locality));
  m_localityShape->setCurrentIndex(m_localityShape->findData(QString::fromStdString(settings.localityShape)));
  const bool hasPlies = settings.locality >= 2;
  m_localityShape->setEnabled(hasPlies);
  m_reducePrompt->setEnabled(hasPlies);
  const QString reduce = QString::fromStdString(settings.reducePrompt);
  if (m_reducePrompt->text() != reduce) m_reducePrompt->setText(reduce);
  m_observe->setChecked(settings.observe);
  m_observeRows->setChecked(settings.observeRows);
  m_observeRows->setEnabled(settings.observe);
  m_layers->setText(layersText(settings.layers));
  m_layers->setEnabled(settings.observe);
  m_attention->setValue(settings.attentionMebibytes);
  m_attention->setEnabled(settings.observe);
  m_kept->setValue(settings.keptMebibytes);
  m_retrieval->show(document(), now);
  setEnabled(model() != nullptr);
  Q_EMIT summaryChanged(tr("next run"));
}

}  // namespace spanscope::ui

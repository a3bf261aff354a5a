// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/view_export_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kCsv = 3;  ///< index in the list of formats, after those of PictureFormat
constexpr QSize kPreview(380, 260);

}  // namespace

ViewExportDialog::ViewExportDialog(std::vector<ExportItem> items, const QString& current, const Theme& theme,
                                   QWidget* parent, std::string documentText)
    : QDialog(parent), m_items(std::move(items)), m_document(std::move(documentText)), m_theme(theme) {
  setWindowTitle(tr("Export view"));
  m_view = new QComboBox(this);
  for (const ExportItem& entry : m_items) m_view->addItem(entry.title, entry.id);
  m_view->setCurrentIndex(std::max(0, m_view->findData(current)));
  m_format = new QComboBox(this);
  m_format->addItems({tr("PNG picture"), tr("SVG drawing"), tr("PDF document"), tr("CSV table")});
  m_width = new QSpinBox(this);
  m_height = new QSpinBox(this);
  for (QSpinBox* side : {m_width, m_height}) {
    side->setRange(16, 16384);
    side->setSuffix(tr(" px"));
  }
  m_scale = new QComboBox(this);
  for (const double scale : {1.0, 2.0, 3.0, 4.0}) m_scale->addItem(tr("%1 ×").arg(scale), scale);
  m_scale->setCurrentIndex(1);
  m_scheme = new QComboBox(this);
  m_scheme->addItems({tr("Light"), tr("Dark")});
  m_scheme->setCurrentIndex(theme.scheme() == Scheme::Dark ? 1 : 0);
  m_transparent = new QCheckBox(tr("No background"), this);
  m_transparent->setToolTip(tr("Make the background transparent"));
  m_carries = new QCheckBox(tr("Keep the query in the file"), this);
  m_carries->setChecked(!m_document.empty());
  m_carries->setToolTip(tr(
      "Store the query in the picture file, so that Spanscope can open the query from this file. The file "
      "then has all texts and settings, also hidden texts. Turn this option off if the texts are private."));

  auto* form = new QFormLayout;
  form->setHorizontalSpacing(4 * kSpace);
  form->setVerticalSpacing(2 * kSpace);
  form->addRow(tr("&View"), m_view);
  form->addRow(tr("&Format"), m_format);
  form->addRow(tr("&Width"), m_width);
  form->addRow(tr("&Height"), m_height);
  form->addRow(tr("&Scale"), m_scale);
  form->addRow(tr("&Theme"), m_scheme);
  form->addRow(QString(), m_transparent);
  form->addRow(QString(), m_carries);
  m_view->setAccessibleName(tr("View"));
  m_format->setAccessibleName(tr("Format"));
  m_width->setAccessibleName(tr("Width in pixels"));
  m_height->setAccessibleName(tr("Height in pixels"));
  m_scale->setAccessibleName(tr("Scale of the PNG picture"));
  m_scheme->setAccessibleName(tr(/*id:theme-picture*/ "Theme of the picture"));

  m_preview = new QLabel(this);
  m_preview->setFixedSize(kPreview);
  m_preview->setAlignment(Qt::AlignCenter);
  m_preview->setAccessibleName(tr("Preview"));
  m_preview->setStyleSheet(
      QStringLiteral("QLabel { background: %1; border: 1px solid %2; border-radius: %3px; }")
          .arg(theme.color(Role::Canvas).name(), theme.color(Role::Line).name())
          .arg(kDockRadius));
  m_result = new QLabel(this);
  m_message = new QLabel(this);
  m_message->setWordWrap(true);
  for (QLabel* label : {m_result, m_message}) label->setFont(theme.smallFont());

  m_copy = new QPushButton(tr("&Copy"), this);
  m_save = new QPushButton(tr("Save…"), this);
  m_save->setObjectName(QStringLiteral("primary"));
  m_save->setDefault(true);
  auto* closeButton = new QPushButton(tr("Close"), this);

  auto* right = new QVBoxLayout;
  right->setSpacing(2 * kSpace);
  right->addWidget(m_preview);
  right->addWidget(m_result);
  right->addStretch();
  auto* body = new QHBoxLayout;
  body->setSpacing(6 * kSpace);
  body->addLayout(form, 1);
  body->addLayout(right);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(2 * kSpace);
  foot->addWidget(m_message, 1);
  foot->addWidget(closeButton);
  foot->addWidget(m_copy);
  foot->addWidget(m_save);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(4 * kSpace, 4 * kSpace, 4 * kSpace, 4 * kSpace);
  column->setSpacing(4 * kSpace);
  column->addLayout(body, 1);
  column->addLayout(foot);

  connect(m_view, &QComboBox::currentIndexChanged, this, &ViewExportDialog::itemChanged);
  connect(m_format, &QComboBox::currentIndexChanged, this, &ViewExportDialog::updateControls);
  for (QSpinBox* side : {m_width, m_height}) {
    connect(side, &QSpinBox::valueChanged, this, &ViewExportDialog::updatePreview);
  }
  connect(m_scale, &QComboBox::currentIndexChanged, this, &ViewExportDialog::updatePreview);
  connect(m_scheme, &QComboBox::currentIndexChanged, this, &ViewExportDialog::updatePreview);
  connect(m_transparent, &QCheckBox::toggled, this, &ViewExportDialog::updatePreview);
  connect(closeButton, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_copy, &QPushButton::clicked, this, [this] { say(copy(), tr("Copied.")); });
  connect(m_save, &QPushButton::clicked, this, [this] {
    const QString path = QFileDialog::getSaveFileName(this, tr("Export view"), proposedName());
    if (!path.isEmpty()) say(saveTo(path), tr("Saved as %1").arg(path));
  });
  itemChanged();
}

const ExportItem& ViewExportDialog::item() const {
  return m_items[static_cast<std::size_t>(std::max(0, m_view->currentIndex()))];
}

bool ViewExportDialog::isTable() const {
  return m_format->currentIndex() == kCsv;
}

PictureFormat ViewExportDialog::pictureFormat() const {
  switch (m_format->currentIndex()) {
    case 1:
      return PictureFormat::Svg;
    case 2:
      return PictureFormat::Pdf;
    default:
      return PictureFormat::Png;
  }
}

Theme ViewExportDialog::pictureTheme() const {
  return Theme(m_scheme->currentIndex() == 1 ? Scheme::Dark : Scheme::Light);
}

QSize ViewExportDialog::pictureSize() const {
  return {m_width->value(), m_height->value()};
}

PictureOptions ViewExportDialog::pictureOptions() const {
  PictureOptions options;
  options.scale = m_scale->currentData().toDouble();
  if (!m_transparent->isChecked()) options.background = pictureTheme().color(Role::Surface);
  options.title = item().title;
  if (m_carries->isEnabled() && m_carries->isChecked()) options.document = m_document;
  return options;
}

PaintFunction ViewExportDialog::paintFunction() const {
  return [paint = item().paint, theme = pictureTheme()](QPainter& painter, const QSize& size) {
    paint(painter, size, theme);
  };
}

QString ViewExportDialog::proposedName() const {
  return item().id + QLatin1Char('.') + (isTable() ? QStringLiteral("csv") : suffixOf(pictureFormat()));
}

std::optional<Error> ViewExportDialog::saveTo(const QString& path) {
  if (isTable()) return writeFile(path, item().csv().toUtf8());
  return exportPicture(paintFunction(), pictureSize(), pictureFormat(), path, pictureOptions());
}

std::optional<Error> ViewExportDialog::copy() {
  if (isTable()) {
    QGuiApplication::clipboard()->setMimeData(csvForClipboard(item().csv()).release());
    return std::nullopt;
  }
  // The picture in the clipboard gets no document, because it is meant to be pasted into other programs.
  PictureOptions options = pictureOptions();
  options.document.clear();
  auto picture = pictureForClipboard(paintFunction(), pictureSize(), pictureFormat(), options);
  if (auto* error = std::get_if<Error>(&picture)) return std::move(*error);
  QGuiApplication::clipboard()->setMimeData(std::get<std::unique_ptr<QMimeData>>(picture).release());
  return std::nullopt;
}

void ViewExportDialog::itemChanged() {
  const QSignalBlocker width(m_width);
  const QSignalBlocker height(m_height);
  const QSize size = ui::pictureSize(item());
  m_width->setValue(size.width());
  m_height->setValue(size.height());
  updateControls();
}

void ViewExportDialog::updateControls() {
  const bool isPng = m_format->currentIndex() == 0;
  for (QWidget* control : {static_cast<QWidget*>(m_width), static_cast<QWidget*>(m_height),
                           static_cast<QWidget*>(m_scheme), static_cast<QWidget*>(m_transparent)}) {
    control->setEnabled(!isTable());
  }
  m_scale->setEnabled(isPng);
  m_carries->setEnabled(!m_document.empty() && !isTable() && pictureFormat() != PictureFormat::Pdf);
  m_message->clear();
  updatePreview();
}

void ViewExportDialog::updatePreview() {
  bool hasResult = true;
  if (isTable()) {
    const QString csv = item().csv ? item().csv() : QString();
    hasResult = !csv.isEmpty();
    const auto lines = csv.count(QLatin1Char('\n'));
    m_preview->setPixmap({});
    m_preview->setFont(hasResult ? m_theme.monoFont() : m_theme.interfaceFont());
    m_preview->setAlignment(hasResult ? Qt::AlignLeft | Qt::AlignTop : Qt::AlignCenter);
    m_preview->setText(hasResult ? csv.left(2000) : tr("This view has no table."));
    m_preview->setTextFormat(Qt::PlainText);
    m_result->setText(hasResult ? tr("%1 lines").arg(lines) : QString());
  } else {
    const QSize size = pictureSize();
    const double scale = std::min(
        {1.0, double(kPreview.width() - 16) / size.width(), double(kPreview.height() - 16) / size.height()});
    const double ratio = devicePixelRatioF();
    const Theme theme = pictureTheme();
    QImage image(QSize(std::max(1, static_cast<int>(size.width() * scale * ratio)),
                       std::max(1, static_cast<int>(size.height() * scale * ratio))),
                 QImage::Format_ARGB32_Premultiplied);
    image.fill(m_transparent->isChecked() ? QColor(Qt::transparent) : theme.color(Role::Surface));
    {
      QPainter painter(&image);
      painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
      painter.scale(scale * ratio, scale * ratio);
      item().paint(painter, size, theme);
    }
    image.setDevicePixelRatio(ratio);
    m_preview->setAlignment(Qt::AlignCenter);
    m_preview->setPixmap(QPixmap::fromImage(image));
    const double factor = pictureFormat() == PictureFormat::Png ? m_scale->currentData().toDouble() : 1;
    m_result->setText(pictureFormat() == PictureFormat::Png
                          ? tr("%1 × %2 pixels").arg(size.width() * factor).arg(size.height() * factor)
                          : tr("%1 × %2, any scale").arg(size.width()).arg(size.height()));
  }
  m_copy->setEnabled(hasResult);
  m_save->setEnabled(hasResult);
}

void ViewExportDialog::say(const std::optional<Error>& error, const QString& otherwise) {
  m_message->setText(error ? QString::fromStdString(error->message()) : otherwise);
}

}  // namespace spanscope::ui

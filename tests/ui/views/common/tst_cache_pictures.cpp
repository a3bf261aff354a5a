// SPDX-License-Identifier: GPL-3.0-or-later
// Paints each of the views in both themes. With SPANSCOPE_PICTURES set the pictures are kept in that folder.
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recording.h"
#include "ui/views/block_table/block_table_view.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/pool/pool_view.h"
#include "ui/views/tokens/token_strip_view.h"
#include "ui/views/why/why_view.h"

#include <QApplication>
#include <QDir>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QTest>
#include <QVBoxLayout>

#include <memory>

using namespace spanscope;

namespace {

std::unique_ptr<ui::View> makeView(const QString& id) {
  if (id == QStringLiteral("tokens")) return std::make_unique<ui::TokenStripView>();
  if (id == QStringLiteral("block-table")) return std::make_unique<ui::BlockTableView>();
  if (id == QStringLiteral("pool")) return std::make_unique<ui::PoolView>();
  return std::make_unique<ui::WhyView>();
}

}  // namespace

class TestCachePictures : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void paints_data();
  void paints();
  void empty();

 private:
  static document::NodeId plusOf(const document::Document& document);
  ui::ViewInput inputFor(const QString& scene, ui::Scheme scheme);
  /// The view in a frame with its title bar, as a dock shows it.
  static QImage picture(ui::View& view, const QString& title, const ui::ViewInput& input, const QSize& size);

  std::unique_ptr<test::Recording> m_rag;
  std::unique_ptr<test::Recording> m_judge;
};

document::NodeId TestCachePictures::plusOf(const document::Document& document) {
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join != nullptr && join->kind == query::JoinKind::Plus) return id;
  }
  return document::kNoNode;
}

void TestCachePictures::initTestCase() {
  m_rag = std::make_unique<test::Recording>(256);
  document::Document document = test::Recording::example("rag.json");
  m_rag->run(document);
  QVERIFY(document::swapChildren(document, plusOf(document), 0, 1));
  m_rag->run(document);
  m_judge = std::make_unique<test::Recording>(96, 4);
  m_judge->run(test::Recording::example("judge-2.json"));
  m_judge->run(document);
  m_judge->run(test::Recording::example("judge-2.json"));
}

void TestCachePictures::paints_data() {
  QTest::addColumn<QString>("view");
  QTest::addColumn<QString>("scene");
  QTest::addColumn<QSize>("size");
  for (const char* scene : {"rag", "judge"}) {
    const QString name = QString::fromLatin1(scene);
    QTest::addRow("tokens-%s", scene) << QStringLiteral("tokens") << name << QSize(960, 220);
    QTest::addRow("block-table-%s", scene) << QStringLiteral("block-table") << name << QSize(960, 320);
    QTest::addRow("pool-%s", scene) << QStringLiteral("pool") << name << QSize(720, 320);
    QTest::addRow("why-%s", scene) << QStringLiteral("why") << name << QSize(560, 380);
  }
}

ui::ViewInput TestCachePictures::inputFor(const QString& scene, ui::Scheme scheme) {
  ui::ViewInput input = (scene == QStringLiteral("rag") ? m_rag : m_judge)->input(scheme);
  const RequestId last = test::lastRequest(input);
  input.selection = ui::selectionOfToken(input, {last, 1, 17});
  return input;
}

QImage TestCachePictures::picture(ui::View& view, const QString& title, const ui::ViewInput& input,
                                  const QSize& size) {
  QWidget dock;
  dock.setPalette(input.theme.palette());
  dock.setAutoFillBackground(true);
  auto* column = new QVBoxLayout(&dock);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 0, 12, 0);
  auto* name = new QLabel(title);
  name->setFont(input.theme.titleFont());
  auto* summary = new QLabel;
  summary->setFont(input.theme.smallFont());
  QObject::connect(&view, &ui::View::summaryChanged, summary, &QLabel::setText);
  bar->addWidget(name);
  bar->addWidget(summary);
  bar->addStretch();
  if (QWidget* controls = view.takeTitleControls()) bar->addWidget(controls);
  auto* holder = new QWidget;
  holder->setFixedHeight(ui::kDockTitleHeight);
  holder->setLayout(bar);
  column->addWidget(holder);
  column->addWidget(&view, 1);
  view.setInput(input);
  dock.resize(size);
  dock.show();
  QCoreApplication::processEvents();
  QImage image = dock.grab().toImage();
  view.setParent(nullptr);
  return image;
}

void TestCachePictures::paints() {
  QFETCH(QString, view);
  QFETCH(QString, scene);
  QFETCH(QSize, size);
  for (const ui::Scheme scheme : {ui::Scheme::Light, ui::Scheme::Dark}) {
    const ui::ViewInput input = inputFor(scene, scheme);
    qApp->setPalette(input.theme.palette());
    qApp->setStyleSheet(input.theme.styleSheet());
    const std::unique_ptr<ui::View> own = makeView(view);
    QVERIFY(own != nullptr);
    const QImage image = picture(*own, view, input, size);
    QCOMPARE(image.size(), size);
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (folder.isEmpty()) continue;
    QDir().mkpath(folder);
    const QString suffix = scheme == ui::Scheme::Light ? QStringLiteral("light") : QStringLiteral("dark");
    QVERIFY(image.save(QStringLiteral("%1/%2-%3-%4.png").arg(folder, view, scene, suffix)));
  }
}

void TestCachePictures::empty() {
  ui::ViewInput input;
  input.document = std::make_shared<const document::Document>();
  input.trace = std::make_shared<const ui::TraceStore>();
  for (const char* id : {"tokens", "block-table", "pool", "why"}) {
    const QString name = QString::fromLatin1(id);
    const std::unique_ptr<ui::View> view = makeView(name);
    const QImage image = picture(*view, name, input, {600, 200});
    QVERIFY(view->csv().isEmpty());
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (!folder.isEmpty()) QVERIFY(image.save(QStringLiteral("%1/%2-empty.png").arg(folder, name)));
  }
}

SPANSCOPE_TEST(tst_cache_pictures, TestCachePictures, QApplication)
#include "tst_cache_pictures.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Files are written whole or not at all, where the path leads, and never over what is being read.
#include "engine/base/output_file.h"
#include "engine/base/readable_file.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using spanscope::Error;
using spanscope::Failure;
using spanscope::FileIdentity;
using spanscope::identityOf;
using spanscope::OutputFile;
using spanscope::OutputRules;
using spanscope::UnfinishedFiles;
using spanscope::writeFile;
using spanscope::product_text::worded;
namespace fs = std::filesystem;

namespace {

std::span<const std::uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void put(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string contentOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The names in a folder, sorted.
std::vector<std::string> namesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

unsigned permissionsOf(const fs::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 07777U : 0;
}

/// What an action refuses with; an empty error if it does not.
Error refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {};
}

/// Has no file of this process grow beyond a size for as long as it lives, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &m_before);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = m_before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &m_before); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit m_before{};
};

}  // namespace

class TestOutputFile : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { spanscope::reportWriteErrors(); }

  void takesItsNameWithCommit();
  void nothingIsLeftWithoutCommit();
  void linksStayAndTheirTargetsAreReplaced_data();
  void linksStayAndTheirTargetsAreReplaced();
  void circleOfLinksIsRefused();
  void permissionsAreKept();
  void newFilesFollowTheUmask();
  void fileThatMayNotBeWrittenIsRefused();
  void inputIsRefused_data();
  void inputIsRefused();
  void ownStandardStreamIsRefused();
  void folderIsRefused();
  void missingFolderIsNamed();
  void devicesAreWrittenTo();
  void fullDeviceIsReported();
  void pipeGetsTheBytes();
  void pipeWithoutAReaderIsLeftWhenStopped();
  void pipeWhoseReaderLeavesIsReported();
  void descriptorOfAFileWithoutANameIsWrittenTo();
  void fullDiskLeavesNothing();
  void writersOfOneFileDoNotMeet();
  void longNamesAreWritten();
  void unfinishedFilesAreRemovedAtOnce();
  void wholeFileIsWritten();
};

void TestOutputFile::takesItsNameWithCommit() {
  const QTemporaryDir folder;
  const fs::path path = fs::path(folder.path().toStdString()) / "a.trace";
  put(path, "old");
  OutputFile file(path);
  file.write(bytesOf("ne"));
  file.write(bytesOf("w"));
  QCOMPARE(contentOf(path), std::string("old"));
  QCOMPARE(contentOf(file.partPath()), std::string("new"));
  QCOMPARE(file.partPath().parent_path(), path.parent_path());
  // The file ending identifies a file of a killed program.
  QVERIFY(file.partPath().string().ends_with(".trace.part"));
  QVERIFY(file.partPath().filename().string().starts_with("a."));
  file.commit();
  QCOMPARE(contentOf(path), std::string("new"));
  QCOMPARE(namesIn(path.parent_path()), (std::vector<std::string>{"a.trace"}));
}

void TestOutputFile::nothingIsLeftWithoutCommit() {
  const QTemporaryDir folder;
  const fs::path path = fs::path(folder.path().toStdString()) / "a.txt";
  {
    OutputFile file(path);
    file.write(bytesOf("half"));
    QCOMPARE(namesIn(path.parent_path()).size(), std::size_t{1});
  }
  QVERIFY(namesIn(path.parent_path()).empty());
  put(path, "old");
  OutputFile file(path);
  file.write(bytesOf("half"));
  file.discard();
  QCOMPARE(namesIn(path.parent_path()), (std::vector<std::string>{"a.txt"}));
  QCOMPARE(contentOf(path), std::string("old"));
  QVERIFY(!refusal([&file] { file.write(bytesOf("more")); }).found.empty());
  QVERIFY(!refusal([&file] { file.commit(); }).found.empty());
}

void TestOutputFile::linksStayAndTheirTargetsAreReplaced_data() {
  QTest::addColumn<QString>("target");
  QTest::addColumn<bool>("exists");
  for (const bool exists : {true, false}) {
    const char* const what = exists ? "to a file" : "to nothing";
    QTest::addRow("relative, %s", what) << "below/real.txt" << exists;
    QTest::addRow("absolute, %s", what) << "/" << exists;
    QTest::addRow("over another link, %s", what) << "other" << exists;
  }
}

void TestOutputFile::linksStayAndTheirTargetsAreReplaced() {
  QFETCH(QString, target);
  QFETCH(bool, exists);
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  const fs::path real = folder / "below" / "real.txt";
  fs::create_directory(folder / "below");
  if (exists) put(real, "old");
  fs::create_symlink("below/real.txt", folder / "other");
  const fs::path link = folder / "link";
  fs::create_symlink(target == "/" ? real : fs::path(target.toStdString()), link);

  OutputFile file(link);
  file.write(bytesOf("new"));
  QCOMPARE(file.partPath().parent_path(), folder / "below");
  file.commit();
  QVERIFY(fs::is_symlink(link));
  QVERIFY(fs::is_symlink(folder / "other"));
  QVERIFY(!fs::is_symlink(real));
  QCOMPARE(contentOf(real), std::string("new"));
  QCOMPARE(namesIn(folder / "below"), (std::vector<std::string>{"real.txt"}));
}

void TestOutputFile::circleOfLinksIsRefused() {
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  const Error error = refusal([&] { OutputFile file(folder / "a"); });
  QCOMPARE(error.found, worded(std::string("<system-reports> Too many levels of symbolic links.")));
  QCOMPARE(error.file, (folder / "a").string());
}

void TestOutputFile::permissionsAreKept() {
  const QTemporaryDir folder;
  const fs::path path = fs::path(folder.path().toStdString()) / "a.txt";
  for (const mode_t mode : {0600U, 0664U, 0755U, 0642U}) {
    put(path, "old");
    QCOMPARE(::chmod(path.c_str(), mode), 0);
    OutputFile file(path);
    QCOMPARE(permissionsOf(file.partPath()), mode);
    file.commit();
    QCOMPARE(permissionsOf(path), mode);
  }
  if (::geteuid() != 0) QSKIP("owners are only for root to give");
  QCOMPARE(::chown(path.c_str(), 12345, 23456), 0);
  QVERIFY(!writeFile(path, "new"));
  struct stat found {};
  QCOMPARE(::stat(path.c_str(), &found), 0);
  QCOMPARE(found.st_uid, uid_t{12345});
  QCOMPARE(found.st_gid, gid_t{23456});
}

void TestOutputFile::newFilesFollowTheUmask() {
  const QTemporaryDir folder;
  const fs::path path(folder.path().toStdString());
  const mode_t before = ::umask(027);
  const auto first = writeFile(path / "a", "x");
  ::umask(002);
  const auto second = writeFile(path / "b", "x");
  ::umask(before);
  QVERIFY(!first && !second);
  QCOMPARE(permissionsOf(path / "a"), 0640U);
  QCOMPARE(permissionsOf(path / "b"), 0664U);
}

void TestOutputFile::fileThatMayNotBeWrittenIsRefused() {
  if (::geteuid() == 0) QSKIP("root may write everything");
  const QTemporaryDir folder;
  const fs::path path = fs::path(folder.path().toStdString()) / "a.txt";
  put(path, "old");
  QCOMPARE(::chmod(path.c_str(), 0444), 0);
  const auto error = writeFile(path, "new");
  QVERIFY(error.has_value());
  QCOMPARE(error->found, worded(std::string("<system-reports> Permission denied.")));
  QCOMPARE(contentOf(path), std::string("old"));
}

void TestOutputFile::inputIsRefused_data() {
  QTest::addColumn<QString>("name");
  QTest::newRow("by its name") << "input";
  QTest::newRow("by another path") << "below/../input";
  QTest::newRow("by a symbolic link") << "soft";
  QTest::newRow("by a hard link") << "hard";
}

void TestOutputFile::inputIsRefused() {
  QFETCH(QString, name);
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  put(folder / "input", "query");
  put(folder / "other", "old");
  fs::create_directory(folder / "below");
  fs::create_symlink("input", folder / "soft");
  fs::create_hard_link(folder / "input", folder / "hard");
  const auto identity = identityOf(folder / "input");
  QVERIFY(identity.has_value());
  const OutputRules rules{.inputs = {*identity}};

  const fs::path path = folder / name.toStdString();
  const auto error = writeFile(path, "new", rules);
  QVERIFY(error.has_value());
  QCOMPARE(
      error->message(),
      path.string() + worded(std::string(": Spanscope found <file-command-reads>, but needs another file")));
  QCOMPARE(contentOf(folder / "input"), std::string("query"));
  QCOMPARE(namesIn(folder), (std::vector<std::string>{"below", "hard", "input", "other", "soft"}));
  QVERIFY(!writeFile(folder / "other", "new", rules));
}

void TestOutputFile::ownStandardStreamIsRefused() {
  const QTemporaryDir temporary;
  const fs::path path = fs::path(temporary.path().toStdString()) / "answers";
  put(path, "old");
  const int before = ::dup(STDIN_FILENO);
  const int opened = ::open(path.c_str(), O_RDONLY);
  ::dup2(opened, STDIN_FILENO);
  const auto error = writeFile(path, "new");
  if (before >= 0) {
    ::dup2(before, STDIN_FILENO);
    ::close(before);
  }
  ::close(opened);
  QVERIFY(error.has_value());
  QCOMPARE(contentOf(path), std::string("old"));
}

void TestOutputFile::folderIsRefused() {
  const QTemporaryDir folder;
  const Error error = refusal([&] { OutputFile file(folder.path().toStdString()); });
  QCOMPARE(error.found, std::string("a folder"));
  QVERIFY(namesIn(folder.path().toStdString()).empty());
}

void TestOutputFile::missingFolderIsNamed() {
  for (const char* path : {"/nowhere/a.txt", "", "/nowhere/"}) {
    const Error error = refusal([path] { OutputFile file{fs::path(path)}; });
    QCOMPARE(error.file, std::string(path));
    QCOMPARE(error.found, worded(std::string("<system-reports> No such file or directory.")));
  }
}

void TestOutputFile::devicesAreWrittenTo() {
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  const fs::path device = folder / "null";
  if (::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) QSKIP("devices are only for root to make");
  if (const int opened = ::open(device.c_str(), O_WRONLY); opened >= 0)
    ::close(opened);
  else
    QSKIP("devices cannot be used in this folder");
  fs::create_symlink("null", folder / "link");
  for (const fs::path& path : {device, folder / "link"}) {
    OutputFile file(path);
    file.write(bytesOf("gone"));
    file.commit();
    QVERIFY(fs::is_character_file(device));
    QCOMPARE(namesIn(folder), (std::vector<std::string>{"link", "null"}));
  }
  {
    OutputFile file(device);
    file.write(bytesOf("gone"));
  }
  QVERIFY(fs::is_character_file(device));
}

void TestOutputFile::fullDeviceIsReported() {
  if (::access("/dev/full", W_OK) != 0) QSKIP("no /dev/full here");
  const QTemporaryDir temporary;
  const fs::path link = fs::path(temporary.path().toStdString()) / "full";
  fs::create_symlink("/dev/full", link);
  const auto error = writeFile(link, "x");
  QVERIFY(error.has_value());
  QCOMPARE(error->found, worded(std::string("<system-reports> No space left on device.")));
  QCOMPARE(error->file, link.string());
  QVERIFY(fs::is_symlink(link));
}

void TestOutputFile::pipeGetsTheBytes() {
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  QCOMPARE(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::stop_source stop;
  // The reader comes later than the writer.
  auto writing = std::async(std::launch::async, [&] {
    return writeFile(folder / "pipe", "through", {.inputs = {}, .stop = stop.get_token()});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  QCOMPARE(contentOf(folder / "pipe"), std::string("through"));
  QVERIFY(!writing.get());
  QVERIFY(fs::is_fifo(folder / "pipe"));
  QCOMPARE(namesIn(folder), (std::vector<std::string>{"pipe"}));
}

void TestOutputFile::pipeWithoutAReaderIsLeftWhenStopped() {
  const QTemporaryDir temporary;
  const fs::path pipe = fs::path(temporary.path().toStdString()) / "pipe";
  QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
  std::stop_source stop;
  auto writing = std::async(std::launch::async,
                            [&] { return writeFile(pipe, "x", {.inputs = {}, .stop = stop.get_token()}); });
  QCOMPARE(writing.wait_for(std::chrono::milliseconds(60)), std::future_status::timeout);
  stop.request_stop();
  const auto error = writing.get();
  QVERIFY(error.has_value());
  QCOMPARE(error->found, worded(std::string("<pipe-nobody-reads>")));
  // Where nobody can stop it, it does not begin to wait.
  QVERIFY(writeFile(pipe, "x").has_value());
}

void TestOutputFile::pipeWhoseReaderLeavesIsReported() {
  const QTemporaryDir temporary;
  const fs::path pipe = fs::path(temporary.path().toStdString()) / "pipe";
  QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  QVERIFY(reader >= 0);
  OutputFile file(pipe);
  file.write(bytesOf("read"));
  ::close(reader);
  QCOMPARE(refusal([&file] { file.write(bytesOf("lost")); }).found, worded(std::string("<system-reports> Broken pipe.")));
  QVERIFY(fs::is_fifo(pipe));
}

void TestOutputFile::descriptorOfAFileWithoutANameIsWrittenTo() {
  const QTemporaryDir temporary;
  const fs::path path = fs::path(temporary.path().toStdString()) / "removed";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  QVERIFY(descriptor >= 0);
  fs::remove(path);
  QVERIFY(!writeFile("/dev/fd/" + std::to_string(descriptor), "kept"));
  std::string found(16, '\0');
  const ssize_t count = ::pread(descriptor, found.data(), found.size(), 0);
  ::close(descriptor);
  QCOMPARE(found.substr(0, static_cast<std::size_t>(count)), std::string("kept"));
  QVERIFY(namesIn(path.parent_path()).empty());
}

void TestOutputFile::fullDiskLeavesNothing() {
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  put(folder / "a", "old");
  Error error;
  {
    const FullDisk disk(4096);
    error = refusal([&] {
      OutputFile file(folder / "a");
      file.write(bytesOf(std::string(4000, 'x')));
      file.write(bytesOf(std::string(4000, 'x')));
      file.commit();
    });
  }
  QCOMPARE(error.found, worded(std::string("<system-reports> File too large.")));
  QCOMPARE(error.file, (folder / "a").string());
  QCOMPARE(namesIn(folder), (std::vector<std::string>{"a"}));
  QCOMPARE(contentOf(folder / "a"), std::string("old"));
}

void TestOutputFile::writersOfOneFileDoNotMeet() {
  const QTemporaryDir temporary;
  const fs::path path = fs::path(temporary.path().toStdString()) / "a";
  OutputFile first(path);
  OutputFile second(path);
  first.write(bytesOf("first"));
  second.write(bytesOf("second"));
  first.commit();
  QCOMPARE(contentOf(path), std::string("first"));
  second.commit();
  QCOMPARE(contentOf(path), std::string("second"));
  QCOMPARE(namesIn(path.parent_path()), (std::vector<std::string>{"a"}));
}

void TestOutputFile::longNamesAreWritten() {
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  std::string umlauts;
  while (umlauts.size() < 250) umlauts += "\xC3\xBC";
  for (const std::string& name :
       {std::string(255, 'n'), umlauts + ".span", "a." + std::string(250, 'e'), std::string(".hidden")}) {
    QVERIFY2(!writeFile(folder / name, "x"), name.c_str());
    QCOMPARE(contentOf(folder / name), std::string("x"));
  }
}

void TestOutputFile::unfinishedFilesAreRemovedAtOnce() {
  const QTemporaryDir temporary;
  const fs::path folder(temporary.path().toStdString());
  UnfinishedFiles unfinished;
  const OutputRules rules{.inputs = {}, .unfinished = &unfinished};
  OutputFile done(folder / "done", rules);
  OutputFile half(folder / "half", rules);
  done.commit();
  QCOMPARE(namesIn(folder).size(), std::size_t{2});
  unfinished.removeAll();
  QCOMPARE(namesIn(folder), (std::vector<std::string>{"done"}));
  QVERIFY(!refusal([&half] { half.commit(); }).found.empty());
  QCOMPARE(namesIn(folder), (std::vector<std::string>{"done"}));
}

void TestOutputFile::wholeFileIsWritten() {
  const QTemporaryDir temporary;
  const fs::path path = fs::path(temporary.path().toStdString()) / "a";
  std::string bytes(100'000, 'x');
  bytes.push_back('\0');
  bytes.append("end");
  QVERIFY(!writeFile(path, bytes));
  QCOMPARE(contentOf(path), bytes);
  QVERIFY(!writeFile(path, ""));
  QCOMPARE(contentOf(path), std::string());
}

SPANSCOPE_TEST(tst_output_file, TestOutputFile, QCoreApplication)
#include "tst_output_file.moc"

;;; What a user of the page docs/editors/emacs.md does, in an Emacs without a screen.  -*- lexical-binding: t -*-
;; ULLAGE_TEST names a folder with the block of the page (ullage.el) and `settings.json`; `told.json` is written there.

(require 'json)

(defvar folder (getenv "ULLAGE_TEST"))
(defvar told (list :questions [] :errors []))

(defun told (key value)
  (setq told (plist-put told key value)))

(defun until (what holds)
  (let ((end (+ (float-time) 60)))
    (while (not (funcall holds))
      (when (> (float-time) end)
        (error "%s did not come" what))
      (accept-process-output nil 0.02))))

(setq completing-read-function
      (lambda (prompt options &rest _)
        (told :questions (vconcat (plist-get told :questions) (list (vector prompt (vconcat options)))))
        (if (string-match-p "dip.txt" prompt) (car options) (signal 'quit nil))))

(condition-case problem
    (progn
      (load (concat folder "/ullage.el") nil t)
      (setq ullage-settings (json-parse-string (with-temp-buffer (insert-file-contents (concat folder "/settings.json")) (buffer-string))
                                               :object-type 'plist))
      (ullage-start default-directory)
      (until "the session" (lambda () ullage--session))
      (find-file "dip.txt")
      (let ((say (lambda (text)
                   (let ((count (length ullage--items)))
                     (ullage text)
                     (until "the prompt" (lambda () (> (length ullage--items) count)))
                     (until text (lambda ()
                                   (and (equal ullage--state "idle")
                                        (not (member (plist-get (car (last ullage--items)) :status) '("in_progress")))
                                        (not (equal (plist-get (car (last ullage--items)) :kind) "user")))))))))
        (funcall say "set the dip to five")
        (told :buffer (with-current-buffer "dip.txt" (buffer-string)))
        (funcall say "run something")
        (dotimes (number 3)
          (funcall say (format "look at tap %d" number)))
        (dolist (each '(("/compact" . "completed") ("/undo" . "undone")))
          (ullage (car each))
          (until (car each) (lambda ()
                              (seq-some (lambda (item)
                                          (and (equal (plist-get item :kind) "compaction")
                                               (equal (plist-get item :status) (cdr each))))
                                        ullage--items)))))
      (told :shown (with-current-buffer "*Ullage*" (buffer-string))))
  (error (told :errors (vector (error-message-string problem)))))

(with-temp-file (concat folder "/told.json")
  (insert (json-encode told)))

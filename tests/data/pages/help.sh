sleuth help
sleuth help topics
sleuth help parameters
sleuth help training
sleuth help quiz 2 --answer
sleuth help roofline
